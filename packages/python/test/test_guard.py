"""What is special to Python in a guarded function."""

import asyncio
import dataclasses
import datetime
import enum
import inspect
import json
import threading
import time
import traceback
import unittest
import uuid

import httpx
from tollgate import AsyncClient, Client, TollgateError, ToolDenied, ToolFailed, Withheld
from tollgate.failures import MAX_FAILURE_LENGTH, failure_text

SECRET = "hunter2"
TOKEN = "tg_agent_" + "a" * 43
URL = "http://127.0.0.1:7700"


def verdict(name, number):
    judged = {"message": "Said.", "remedy": "Do.", "rung": "policy", "rule": None, "detail": None}
    codes = {"ALLOW": "RULE_ALLOWED", "DENY": "NO_RULE_MATCHED", "ESCALATE": "APPROVAL_REQUIRED"}
    ids = {"receipt": f"{number:064x}", "approval": "a" * 64 if name == "ESCALATE" else None}
    expires = "2099-01-01T00:00:00.000Z" if name == "ALLOW" else None
    return {"verdict": name, "reason_code": codes[name], **judged, **ids, "expires": expires}


class Gateway:
    """The wire of a gateway: answers with verdicts, and keeps what was sent."""

    def __init__(self, *verdicts, delivery=None):
        self.verdicts = list(verdicts or ["ALLOW"])
        self.delivery = delivery or {"delivery": "full"}
        self.calls = []
        self.effects = []
        self.number = 0

    def handle(self, request):
        body = json.loads(request.content or b"{}")
        if request.url.path.endswith("/evaluate"):
            self.calls.append(body)
            self.number += 1
            name = self.verdicts.pop(0) if len(self.verdicts) > 1 else self.verdicts[0]
            return httpx.Response(200, json=verdict(name, self.number))
        self.effects.append(body)
        found = {"receipt": "e" * 64, "labels": [], "findings": [], **self.delivery}
        return httpx.Response(201, json=found)

    def client(self, **options):
        return Client(URL, TOKEN, transport=httpx.MockTransport(self.handle), **options)

    def async_client(self, **options):
        return AsyncClient(URL, TOKEN, transport=httpx.MockTransport(self.handle), **options)


class Arguments(unittest.TestCase):
    def test_are_judged_by_the_names_of_the_parameters_with_their_defaults(self):
        gateway = Gateway()

        @gateway.client(session="s-1").guard("notes/read")
        def read(name: str, *, depth: int = 1, **rest: object) -> list[object]:
            return [name, depth, rest]

        self.assertEqual(read("a", b="c"), ["a", 1, {"b": "c"}])
        self.assertEqual(gateway.calls[0]["arguments"], {"name": "a", "depth": 1, "b": "c"})
        self.assertEqual(gateway.calls[0]["session_id"], "s-1")

    def test_are_a_copy_that_the_caller_cannot_change(self):
        gateway = Gateway()
        given = {"to": ["harmless"]}

        @gateway.client().guard("mail/send")
        def send(message: dict) -> dict:
            given["to"].append("evil")
            return message

        self.assertEqual(send(given), {"to": ["harmless"]})

    def test_must_be_plain_data_and_the_gateway_is_not_asked_otherwise(self):
        gateway = Gateway()
        ran = []
        guarded = gateway.client().guard("notes/read")(lambda value: ran.append(value))
        for value in ({1}, (1,), object(), b"x", float("nan"), 2**63, datetime.date.today(), {1: 2}):
            with self.assertRaises(TollgateError) as caught:
                guarded(value)
            self.assertEqual(caught.exception.code, "arguments-invalid")
        self.assertEqual((ran, gateway.calls), ([], []))

    def test_that_do_not_fit_the_function_are_a_type_error_before_the_gateway_is_asked(self):
        gateway = Gateway()
        guarded = gateway.client().guard("notes/read")(lambda name: name)
        self.assertRaises(TypeError, guarded)
        self.assertRaises(TypeError, guarded, other=1)
        self.assertEqual(gateway.calls, [])


class Decorating(unittest.TestCase):
    def test_keeps_what_a_framework_reads_of_a_function(self):
        def read(name: str, depth: int = 2) -> str:
            """Reads a note."""
            return name * depth

        async def fetch(name: str) -> str:
            return name

        guarded = Gateway().client().guard("notes/read")(read)
        self.assertEqual(inspect.signature(guarded), inspect.signature(read))
        self.assertEqual((guarded.__name__, guarded.__doc__), ("read", "Reads a note."))
        self.assertTrue(inspect.isfunction(guarded))
        self.assertTrue(inspect.iscoroutinefunction(Gateway().async_client().guard("a")(fetch)))

    def test_refuses_functions_that_it_cannot_guard(self):
        async def later() -> None: ...
        async def pieces():
            yield 1

        client, waiting = Gateway().client(), Gateway().async_client()
        for function in (later, pieces, lambda *values: values, lambda value, /: value):
            self.assertRaises(TypeError, client.guard("a"), function)
        self.assertRaises(TypeError, waiting.guard("a"), lambda: 1)
        self.assertRaises(TypeError, client.guard, later)
        self.assertRaises(TypeError, client.guard, "")
        with self.assertRaisesRegex(TypeError, "unknown option `sesion_id`"):
            client.guard("a", sesion_id="s")

    def test_options_of_one_call_replace_those_of_the_guard(self):
        gateway = Gateway()
        source = {"source_channel": "USER", "text": "read it"}
        read = gateway.client().guard("notes/read", session_id="s-1", delegation="d" * 64)(lambda: 1)
        read.with_options(session_id="s-2", sources=[source], approval="b" * 64)()
        read()
        first, second = gateway.calls
        self.assertEqual((first["session_id"], first["sources"]), ("s-2", [source]))
        self.assertEqual((first["approval"], first["delegation"]), ("b" * 64, "d" * 64))
        self.assertEqual(second["session_id"], "s-1")
        self.assertNotIn("approval", second)

    def test_a_session_in_the_context_replaces_that_of_the_client(self):
        gateway = Gateway()
        gateway.client(session="s-1").evaluate("notes/read", context={"session_id": "s-2"})
        self.assertNotIn("session_id", gateway.calls[0])

    def test_a_call_about_a_page_is_observed_each_time_and_has_its_own_door(self):
        paths = []
        gateway = Gateway()
        seen = iter([1, 2])

        def handle(request):
            paths.append(request.url.path)
            return gateway.handle(request)

        def observe():
            return {"observation": {"url": "https://shop.example/", "sentinel_risk": next(seen)}}

        client = Client(URL, TOKEN, transport=httpx.MockTransport(handle))
        click = client.guard("browser/click", observe=observe, planner_ref="plan")(lambda locator: locator)
        click(locator="a")
        click(locator="b")
        self.assertEqual(paths[0], "/v1/browser/evaluate")
        risks = [call["observation"]["sentinel_risk"] for call in gateway.calls]
        self.assertEqual((risks, gateway.calls[0]["tool_name"]), ([1, 2], "browser/click"))
        self.assertNotIn("tool", gateway.calls[0])

    def test_a_page_that_cannot_be_observed_lets_nothing_run(self):
        gateway = Gateway()
        ran = []

        def blind():
            raise RuntimeError("no page")

        click = gateway.client().guard("browser/click", observe=blind)(lambda: ran.append(1))
        self.assertRaisesRegex(RuntimeError, "no page", click)
        odd = gateway.client().guard("browser/click", observe=lambda: {"url": "x"})(lambda: ran.append(1))
        self.assertRaisesRegex(TypeError, "unknown member `url`", odd)
        self.assertEqual((ran, gateway.calls), ([], []))


class Failing(unittest.TestCase):
    def test_the_error_of_a_tool_leaves_only_its_inspected_text(self):
        gateway = Gateway(delivery={"delivery": "redacted", "output": "bad password removed"})

        @gateway.client().guard("notes/read")
        def read() -> None:
            error = ValueError(f"bad password {SECRET}")
            error.token = SECRET
            error.add_note(SECRET) if hasattr(error, "add_note") else None
            raise error from KeyError(SECRET)

        with self.assertRaises(ToolFailed) as caught:
            read()
        error = caught.exception
        self.assertEqual(str(error), "bad password removed")
        self.assertIsNone(error.__cause__)
        self.assertIsNone(error.__context__)
        shown = [repr(error), repr(vars(error)), json.dumps(error.to_dict()), *traceback.format_exception(error)]
        self.assertNotIn(SECRET, "\n".join(shown))

    def test_the_text_of_an_error_is_bounded_and_never_raises(self):
        class Hostile(Exception):
            def __str__(self):
                raise SystemExit(SECRET)

        class Sly(str):
            def __getitem__(self, key):
                return SECRET

        class Subclassed(Exception):
            def __str__(self):
                return Sly("plain")

        self.assertEqual(failure_text(Hostile()), "(the tool raised an error that cannot be read)")
        self.assertEqual(failure_text(ValueError()), "(the tool raised an error without a message)")
        self.assertEqual(failure_text(Subclassed()), "plain")
        self.assertEqual(failure_text(ValueError("a\ud800")), "a\ufffd")
        long = failure_text(ValueError("x" * 1_000_000))
        self.assertEqual(long, "x" * MAX_FAILURE_LENGTH + " (cut: 1000000 characters)")

    def test_a_tool_that_ends_the_program_is_reported_and_ends_it_without_its_text(self):
        for raised, expected in (
            (KeyboardInterrupt(SECRET), KeyboardInterrupt),
            (SystemExit(SECRET), SystemExit),
        ):
            gateway = Gateway()

            @gateway.client().guard("notes/read")
            def read(raised: object = None) -> None:
                raise current

            current = raised
            with self.assertRaises(expected) as caught:
                read()
            self.assertNotIn(SECRET, repr(caught.exception))
            self.assertIsNone(caught.exception.__context__)
            self.assertEqual(gateway.effects[0]["status"], "FAILED")

    def test_a_function_that_gives_an_awaitable_is_a_failed_tool(self):
        async def later() -> str:
            return SECRET

        gateway = Gateway()
        guarded = gateway.client().guard("notes/read")(lambda: later())
        self.assertRaises(ToolFailed, guarded)
        self.assertEqual(gateway.effects[0]["status"], "FAILED")


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Note:
    name: str
    at: datetime.date


class Outputs(unittest.TestCase):
    def sent(self, value, **options):
        gateway = Gateway(**options)
        given = gateway.client().guard("notes/read")(lambda: value)()
        return given, {name: gateway.effects[0][name] for name in gateway.effects[0] if name.startswith("output")}

    def test_are_reported_as_json_shows_them(self):
        at = datetime.date(2026, 1, 5)
        number = uuid.UUID(int=7)
        shown = [
            ({"b": 1, "a": [None, 1.5]}, {"b": 1, "a": [None, 1.5]}),
            ((1, "a"), [1, "a"]),
            (Note("x", at), {"name": "x", "at": "2026-01-05"}),
            ([Color.RED, number], ["red", str(number)]),
            ("", ""),
            (False, False),
        ]
        for value, expected in shown:
            given, sent = self.sent(value)
            self.assertIs(given, value)
            self.assertEqual(sent, {"output": expected})

    def test_of_bytes_are_reported_and_redacted_as_bytes(self):
        given, sent = self.sent(b"\x00\xff")
        self.assertEqual((given, sent), (b"\x00\xff", {"output_base64": "AP8="}))
        redacted = {"delivery": "redacted", "output": "left"}
        self.assertEqual(self.sent(b"x", delivery=redacted)[0], b"left")
        self.assertIsInstance(self.sent(bytearray(b"x"), delivery=redacted)[0], bytearray)

    def test_that_json_does_not_show_are_reported_as_unseen(self):
        class Opaque:
            def __init__(self):
                self._secret = SECRET

        values = (
            *((letter for letter in SECRET), {SECRET}, Opaque(), [Opaque()], lambda: SECRET, ValueError(SECRET)),
            *({1: SECRET}, 2**63, float("nan"), Opaque, {"a": b"bytes"}),
        )
        for value in values:
            with self.subTest(type(value).__name__):
                _, sent = self.sent(value)
                self.assertEqual(sent["output_digest"]["bytes"], 0)

    def test_that_are_large_are_reported_by_their_digest(self):
        _, sent = self.sent("x" * 600_000)
        self.assertEqual(sent["output_digest"]["bytes"], 600_002)

    def test_of_none_send_nothing_and_cannot_be_withheld(self):
        self.assertEqual(self.sent(None, delivery={"delivery": "withheld"}), (None, {}))

    def test_of_null_in_a_redacted_answer_is_an_output(self):
        self.assertEqual(self.sent("x", delivery={"delivery": "redacted", "output": None})[0], None)
        self.assertRaises(Withheld, self.sent, "x", delivery={"delivery": "withheld"})


class Secrets(unittest.TestCase):
    def test_never_reach_a_text_of_a_client_or_of_an_error(self):
        def broken(request):
            raise httpx.ConnectError(f"cannot connect with {request.headers['authorization']}", request=request)

        client = Client(URL, TOKEN, retries=0, transport=httpx.MockTransport(broken))
        with self.assertRaises(TollgateError) as caught:
            client.evaluate("notes/read", {"password": SECRET})
        error = caught.exception
        seen = [error, error.__cause__, error.__context__, vars(error), client, vars(client), client._gate]
        shown = "\n".join([*map(repr, seen), *traceback.format_exception(error)])
        self.assertNotIn(TOKEN, shown)
        self.assertNotIn(SECRET, shown)
        self.assertEqual((error.__cause__, error.__context__), (None, None))

    def test_a_token_goes_only_where_no_network_reads_it(self):
        for url in ("http://gate.example", "ftp://127.0.0.1", "https://user:pass@gate.example", "127.0.0.1:7700"):
            self.assertRaises(ValueError, Client, url, TOKEN)
        for token in ("", "a b", "a\nb", "ü"):
            with self.assertRaises(ValueError) as caught:
                Client(URL, token)
            self.assertNotIn(repr(token), str(caught.exception)) if token else None
        for options in ({"timeout": 0}, {"timeout": float("nan")}, {"retries": -1}):
            self.assertRaises(ValueError, Client, URL, TOKEN, **options)


class Slow(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that never ends, one byte at a time."""

    def __iter__(self):
        while True:
            time.sleep(0.01)
            yield b" "

    async def __aiter__(self):
        while True:
            await asyncio.sleep(0.01)
            yield b" "


class Timeouts(unittest.TestCase):
    def test_limit_the_whole_answer_and_not_each_read(self):
        def drip(request):
            return httpx.Response(200, stream=Slow())

        ran = []
        client = Client(URL, TOKEN, timeout=0.1, retries=0, transport=httpx.MockTransport(drip))
        with self.assertRaises(TollgateError) as caught:
            client.guard("notes/read")(lambda: ran.append(1))()
        self.assertEqual((caught.exception.code, ran), ("gateway-timeout", []))

    def test_limit_a_transport_that_never_answers(self):
        release = threading.Event()

        def hang(request):
            release.wait(60)
            return httpx.Response(500)

        client = Client(URL, TOKEN, timeout=0.05, retries=0, transport=httpx.MockTransport(hang))
        with self.assertRaises(TollgateError) as caught:
            client.evaluate("notes/read")
        release.set()
        self.assertEqual(caught.exception.code, "gateway-timeout")

    def test_an_answer_that_is_too_large_is_not_read_on(self):
        def flood(request):
            return httpx.Response(200, content=b" " * (9 << 20), headers={"content-type": "application/json"})

        client = Client(URL, TOKEN, retries=0, transport=httpx.MockTransport(flood))
        with self.assertRaises(TollgateError) as caught:
            client.evaluate("notes/read")
        self.assertEqual(caught.exception.code, "answer-invalid")


class Threads(unittest.TestCase):
    def test_the_same_allow_is_used_once(self):
        answer = verdict("ALLOW", 7)

        def handle(request):
            if request.url.path == "/v1/evaluate":
                return httpx.Response(200, json=answer)
            return httpx.Response(201, json={"receipt": "e" * 64, "labels": [], "findings": [], "delivery": "full"})

        ran, spent = [], []
        client = Client(URL, TOKEN, transport=httpx.MockTransport(handle))
        guarded = client.guard("notes/read")(lambda: ran.append(1))

        def call():
            try:
                guarded()
            except TollgateError as error:
                spent.append(error.code)

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((ran, spent), ([1], ["decision-spent"] * 7))


class Cancelling(unittest.IsolatedAsyncioTestCase):
    async def test_before_the_function_starts_lets_nothing_run(self):
        asked = asyncio.Event()
        ran = []

        async def handle(request):
            asked.set()
            await asyncio.sleep(60)
            return httpx.Response(500)

        client = AsyncClient(URL, TOKEN, transport=httpx.MockTransport(handle))

        @client.guard("notes/read")
        async def read() -> None:
            ran.append(1)

        task = asyncio.ensure_future(read())
        await asyncio.wait_for(asked.wait(), 60)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(ran, [])

    async def test_a_running_function_reports_its_effect_and_ends_as_cancelled(self):
        gateway = Gateway()
        running = asyncio.Event()

        @gateway.async_client().guard("notes/read")
        async def read() -> None:
            running.set()
            await asyncio.sleep(60)

        task = asyncio.ensure_future(read())
        await asyncio.wait_for(running.wait(), 60)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(gateway.effects[0]["status"], "FAILED")

    async def test_while_the_effect_is_reported_the_report_is_completed(self):
        gateway = Gateway()
        reporting = asyncio.Event()
        go = asyncio.Event()

        async def handle(request):
            if request.url.path == "/v1/effects":
                reporting.set()
                await go.wait()
            return gateway.handle(request)

        client = AsyncClient(URL, TOKEN, transport=httpx.MockTransport(handle))

        @client.guard("notes/read")
        async def read() -> str:
            return "ran"

        task = asyncio.ensure_future(read())
        await asyncio.wait_for(reporting.wait(), 60)
        task.cancel()
        go.set()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(gateway.effects[0]["status"], "COMPLETED")

    async def test_a_denial_can_be_returned(self):
        @Gateway("DENY").async_client().guard("notes/read", on_denied="return")
        async def read() -> str:
            return "ran"

        denied = await read()
        self.assertIsInstance(denied, ToolDenied)
        self.assertEqual(str(denied), "NO_RULE_MATCHED: Said. Do.")


if __name__ == "__main__":
    unittest.main()
