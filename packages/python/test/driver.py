"""Makes the calls of the tests: one JSON line in, one JSON line out. `contract.test.ts` and others start it."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from typing import Any

import httpx
from tollgate import ApprovalRequest, AsyncClient, Client, ToolDenied, TollgateError

HIDDEN = ("result", "failure")


def options(call: dict[str, Any]) -> dict[str, Any]:
    word = {"throw": "raise", "return": "return"}
    return {
        "wait": None if call["wait"] is False else call["wait"] / 1000,
        "on_denied": word[call["onDenied"]],
        "on_unreported": word[call["onUnreported"]],
    }


def ending(call: dict[str, Any], runs: list[Any], args: dict[str, Any]) -> Any:
    runs.append(args)
    if "throws" in call["does"]:
        raise ValueError(call["does"]["throws"])
    return call["does"]["returns"]


def blocking(call: dict[str, Any], runs: list[Any]) -> Any:
    # Without the certificates, which take long to load.
    transport = httpx.HTTPTransport(verify=False)
    settings = {"session": "s-1", "timeout": 2.0, "retries": call["retries"], "transport": transport}
    person = Client(call["url"], call["operatorToken"], transport=transport)

    def on_waiting(request: ApprovalRequest) -> None:
        if call.get("person") == "approves":
            person.approvals.approve(request.id)
        if call.get("person") == "denies":
            person.approvals.deny(request.id)

    with Client(call["url"], call["token"], **settings) as client:

        @client.guard(call["tool"], on_waiting=on_waiting, **options(call))
        def tool(**arguments: Any) -> Any:
            return ending(call, runs, arguments)

        return tool(**call["arguments"])


async def waiting(call: dict[str, Any], runs: list[Any]) -> Any:
    transport = httpx.AsyncHTTPTransport(verify=False)
    settings = {"session": "s-1", "timeout": 2.0, "retries": call["retries"], "transport": transport}
    person = AsyncClient(call["url"], call["operatorToken"], transport=transport)

    async def on_waiting(request: ApprovalRequest) -> None:
        if call.get("person") == "approves":
            await person.approvals.approve(request.id)
        if call.get("person") == "denies":
            await person.approvals.deny(request.id)

    async with AsyncClient(call["url"], call["token"], **settings) as client:

        @client.guard(call["tool"], on_waiting=on_waiting, **options(call))
        async def tool(**arguments: Any) -> Any:
            return ending(call, runs, arguments)

        return await tool(**call["arguments"])


def outcome(call: dict[str, Any]) -> dict[str, Any]:
    runs: list[Any] = []
    try:
        result = asyncio.run(waiting(call, runs)) if call["client"] == "AsyncClient" else blocking(call, runs)
    except TollgateError as error:
        members = {**vars(error), **{name: getattr(error, name, None) for name in HIDDEN}}
        shown = [str(error), repr(error), repr(vars(error)), "".join(traceback.format_exception(error))]
        if hasattr(error, "to_dict"):
            shown.append(json.dumps(error.to_dict()))
        return {"runs": runs, "ends": error.code, "gives": members, "shown": "\n".join(shown)}
    gives = result.to_dict() if isinstance(result, ToolDenied) else result
    return {"runs": runs, "ends": "returned", "gives": gives, "shown": repr(gives)}


for line in sys.stdin:
    print(json.dumps(outcome(json.loads(line)), default=repr), flush=True)
