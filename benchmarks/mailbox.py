"""What a mailbox costs an item: in batches as a port puts them, out by each way of taking, in memory and through disk.

Run `python benchmarks/mailbox.py [--items N] [--rounds N]`. Prints the best of the rounds; nothing is asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import threading
import time
from collections.abc import Callable, Iterable

import msgspec

from claude_actors.errors import MailboxClosed
from claude_actors.mailbox import Mailbox, MailboxLimits

BATCH = 250
LINE = msgspec.json.encode(
    {"type": "stream_event", "uuid": "0" * 36, "session_id": "1" * 36, "event": {"type": "content", "text": "x" * 100}}
)
ROOMY = MailboxLimits(max_items=10_000_000, max_bytes=1 << 40)
TIGHT = MailboxLimits(max_items=1_000)


class Typed(msgspec.Struct):
    type: str
    uuid: str
    session_id: str
    event: msgspec.Raw


def same(line: bytes) -> bytes:
    return line


def batches(items: int) -> list[list[bytes]]:
    return [[bytes(bytearray(LINE)) for _ in range(BATCH)] for _ in range(items // BATCH)]


def fill(mailbox: Mailbox[object], work: Iterable[list[bytes]]) -> None:
    for batch in work:
        mailbox.put_many(batch)


def iterate(mailbox: Mailbox[object]) -> None:
    for _ in mailbox:
        pass


def get_each(mailbox: Mailbox[object]) -> None:
    try:
        while True:
            mailbox.get()
    except MailboxClosed:
        pass


def iterate_async(mailbox: Mailbox[object]) -> None:
    async def consume() -> None:
        async for _ in mailbox:
            pass

    asyncio.run(consume())


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def apart(
    decode: Callable[[bytes], object], limits: MailboxLimits, take: Callable[[Mailbox[object]], None], items: int
) -> tuple[float, float]:
    """Fill, then drain: the cost of each alone."""
    mailbox: Mailbox[object] = Mailbox(decode, limits=limits)
    work = batches(items)
    put = timed(lambda: fill(mailbox, work))
    mailbox.close()
    return put, timed(lambda: take(mailbox))


def together(
    decode: Callable[[bytes], object], limits: MailboxLimits, take: Callable[[Mailbox[object]], None], items: int
) -> tuple[float, float]:
    """Fill from one thread while another drains, as in a flood."""
    mailbox: Mailbox[object] = Mailbox(decode, limits=limits)
    work = batches(items)

    def produce() -> None:
        fill(mailbox, work)
        mailbox.close()

    producer = threading.Thread(target=produce)
    start = time.perf_counter()
    producer.start()
    take(mailbox)
    both = time.perf_counter() - start
    producer.join()
    return 0.0, both


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    typed = msgspec.json.Decoder(Typed).decode
    rows = [
        ("for, as bytes", apart, same, ROOMY, iterate),
        ("for, decoded", apart, typed, ROOMY, iterate),
        ("get(), as bytes", apart, same, ROOMY, get_each),
        ("async for, as bytes", apart, same, ROOMY, iterate_async),
        ("for, through disk", apart, same, TIGHT, iterate),
        ("two threads, for, decoded", together, typed, ROOMY, iterate),
        ("two threads, async for, decoded", together, typed, ROOMY, iterate_async),
        ("two threads, through disk, decoded", together, typed, TIGHT, iterate),
    ]
    print(f"{arguments.items} items of {len(LINE)} bytes, put in batches of {BATCH}; microseconds an item")
    print(f"{'way':36} {'put':>8} {'take':>8} {'items/s':>12}")
    for name, run, decode, limits, take in rows:
        results = [run(decode, limits, take, arguments.items) for _ in range(arguments.rounds)]
        put, taken = (min(column) / arguments.items for column in zip(*results, strict=True))
        print(f"{name:36} {put * 1e6 or '':8.3} {taken * 1e6:8.3f} {1 / (put + taken):12,.0f}")


if __name__ == "__main__":
    main()
