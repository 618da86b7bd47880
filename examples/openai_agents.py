"""The OpenAI Agents SDK with guarded tools. A denial is the answer of the tool, so that the model can read it and continue.

The model is scripted, so that the example needs no key. In your program, leave out `model`.
"""

import asyncio
import json
import os
import sys
import uuid
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from tollgate import AsyncClient, ToolDenied

missing = [name for name in ("TOLLGATE_URL", "TOLLGATE_AGENT_TOKEN") if not os.environ.get(name)]
if missing:
    sys.exit(f"set {', '.join(missing)}; see examples/README.md")


def call(name: str) -> ResponseFunctionToolCall:
    arguments = json.dumps({"name": "todo"})
    return ResponseFunctionToolCall(name=name, arguments=arguments, call_id=f"call-{name}", type="function_call")


def said(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(text=text, annotations=[], type="output_text")
    return ResponseOutputMessage(id="m1", content=[content], role="assistant", status="completed", type="message")


class ScriptedModel(Model):
    """Calls both tools, then ends."""

    def __init__(self) -> None:
        self.replies = iter([[call("read_note"), call("delete_note")], [said("I may not delete it.")]])

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        return ModelResponse(output=list(next(self.replies)), usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


async def main() -> None:
    session = f"openai-agents-{uuid.uuid4()}"
    ran: list[str] = []
    async with AsyncClient(os.environ["TOLLGATE_URL"], os.environ["TOLLGATE_AGENT_TOKEN"], session=session) as gate:

        @gate.guard("demo/read_note")
        async def read(name: str) -> str:
            ran.append("read_note")
            return f"{name}: buy milk"

        @gate.guard("demo/delete_note", on_denied="return")
        async def delete(name: str) -> str:
            ran.append("delete_note")
            return f"{name} is gone"

        @function_tool
        async def read_note(name: str) -> str:
            """Reads a note."""
            return str(await read(name))

        @function_tool
        async def delete_note(name: str) -> str:
            """Deletes a note."""
            answer = await delete(name)
            return json.dumps(answer.to_dict()) if isinstance(answer, ToolDenied) else str(answer)

        agent = Agent(name="notes", tools=[read_note, delete_note], model=ScriptedModel())
        # Traces would be sent to the provider.
        quiet = RunConfig(tracing_disabled=True)
        result = await Runner.run(agent, "Read the note, then delete it.", run_config=quiet)

    outputs = [str(item.output) for item in result.new_items if item.type == "tool_call_output_item"]
    denial = json.loads(outputs[1])
    assert outputs[0] == "todo: buy milk"
    assert denial["reason_code"] == "POLICY_VIOLATION"
    assert ran == ["read_note"]
    print("read_note:", outputs[0])
    print("delete_note: denied,", denial["reason_code"])
    print("model:", result.final_output)


asyncio.run(main())
