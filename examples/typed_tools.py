"""Functions of your own as tools of the agent: names, descriptions and schemas come from the signatures.

Arguments are checked and converted before your function sees them, and what it raises reaches the model in words. The
server lives in this process: no port, no subprocess. Run it with `python examples/typed_tools.py`.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec

from claude_actors import Allow, CallbackContext, Options, ToolError, ToolServer, UserMessage, start_session
from claude_actors.testing import FakeCLI, UseTool, reply, script

STOCK = {"apple": 12, "pear": 3}


class Order(msgspec.Struct):
    """A Struct as the only parameter describes the whole argument object."""

    article: Annotated[str, msgspec.Meta(description="what to buy, in the singular")]
    amount: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    speed: Literal["normal", "express"] = "normal"


class Receipt(msgspec.Struct):
    """A declared record is sent as structured content, with its schema."""

    article: str
    amount: int
    euros: float


server = ToolServer("shop", version="1.0.0")


@server.tool
def in_stock(article: str) -> int:
    """Tell how many of an article there are."""
    return STOCK.get(article, 0)


@server.tool
async def buy(order: Order, ctx: CallbackContext) -> Receipt:
    """Buy something. The context is passed to the function and not shown to the model."""
    await asyncio.sleep(0)  # a coroutine may wait; a timeout or an interrupt really cancels it
    if STOCK.get(order.article, 0) < order.amount:
        raise ToolError(f"only {STOCK.get(order.article, 0)} left: order less")
    STOCK[order.article] -= order.amount
    return Receipt(order.article, order.amount, order.amount * (0.5 if order.speed == "normal" else 0.9))


def main(options: Options) -> None:
    with start_session(options=options) as session:
        turn = session.send("Buy some pears.")
        for message in turn.messages():
            if isinstance(message, UserMessage) and not isinstance(message.content, str):
                for block in message.content:
                    print("tool:  ", getattr(block, "content", None))
        print("claude:", turn.result(timeout=60).result)
        (state,) = session.mcp_status()
        print(f"server {state.name!r} is {state.status}; pears left: {STOCK['pear']}")


STAND_IN = script(
    reply(UseTool("mcp__shop__in_stock", {"article": "pear"})),
    reply(UseTool("mcp__shop__buy", {"article": "pear", "amount": "two"})),
    reply(UseTool("mcp__shop__buy", {"article": "pear", "amount": 5})),
    reply(UseTool("mcp__shop__buy", {"article": "pear", "amount": 2, "speed": "express"})),
    "Two pears are on their way.",
)

if __name__ == "__main__":
    with FakeCLI(STAND_IN) as cli:
        main(cli.options(mcp_servers={"shop": server}, can_use_tool=lambda request, ctx: Allow()))
