"""The places of the queue: taken, waited for in order, given back, resized, closed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from claude_actors.fleet import FleetClosed
from claude_actors.fleet.places import QueuePlaces


def test_a_full_queue_has_no_place_until_one_is_given_back() -> None:
    places = QueuePlaces(1)
    assert (places.take(), places.take()) == (True, False)
    places.give_back()
    assert places.take()


def test_without_a_bound_there_is_always_a_place() -> None:
    places = QueuePlaces(None)
    assert all(places.take() for _ in range(5000))


def test_tickets_are_served_in_order_and_nobody_overtakes_them() -> None:
    places = QueuePlaces(1)
    places.take()
    first, second = places.ticket(), places.ticket()
    places.give_back()
    assert (first.ready, second.ready) == (True, False)
    places.give_back()
    assert second.ready
    places.give_back()
    assert places.take()


def test_nobody_takes_the_place_that_another_waits_for() -> None:
    places = QueuePlaces(1)
    places.take()
    places.ticket()
    assert not places.take()


def test_who_gives_up_waiting_is_passed_over() -> None:
    places = QueuePlaces(1)
    places.take()
    first, second = places.ticket(), places.ticket()
    assert places.withdraw(first)
    places.give_back()
    assert (first.ready, second.ready) == (False, True)
    assert not places.withdraw(second)


def test_a_larger_queue_serves_those_who_wait() -> None:
    places = QueuePlaces(1)
    places.take()
    tickets = [places.ticket() for _ in range(3)]
    places.resize(3)
    assert [ticket.ready for ticket in tickets] == [True, True, False]
    places.resize(None)
    assert tickets[2].ready


def test_a_smaller_queue_takes_no_place_away() -> None:
    places = QueuePlaces(3)
    assert [places.take() for _ in range(3)] == [True] * 3
    places.resize(1)
    places.give_back()
    places.give_back()
    assert not places.take()
    places.give_back()
    assert places.take()


def test_a_closed_queue_fails_everybody() -> None:
    places = QueuePlaces(1)
    places.take()
    waiting = places.ticket()
    places.close(FleetClosed())
    late = places.ticket()
    for ticket in (waiting, late):
        with pytest.raises(FleetClosed):
            ticket.value()
    assert not places.take()


def test_many_threads_never_hold_more_places_than_there_are() -> None:
    places, lock, held, most = QueuePlaces(3), threading.Lock(), 0, 0

    def hold_one(_: int) -> None:
        nonlocal held, most
        if not places.take():
            ticket = places.ticket()
            assert ticket.wait(30.0)
        with lock:
            held += 1
            most = max(most, held)
        with lock:
            held -= 1
        places.give_back()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(hold_one, range(400)))
    assert most <= 3
    assert (places.taken, places.waiting) == (0, 0)
