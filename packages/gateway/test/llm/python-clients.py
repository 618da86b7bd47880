"""Agents on the official Python clients and on frameworks: one JSON line in (which agent, where), one JSON line out (how it ended)."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import anthropic
import openai
from pydantic import BaseModel

MODEL = "gpt-5"
TASK = "Read my list and mail it to Ann."
MOST_TURNS = 5
RESULTS = {"read_note": "milk, bread", "send_mail": "sent"}
PROPERTIES = {"name": {"type": "string"}}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["name"], "additionalProperties": False}


class Note(BaseModel):
    text: str


class Run:
    def __init__(self, setting: dict[str, Any]) -> None:
        self.base: str = setting["base"]
        self.key: str = setting["key"]
        self.stream: bool = setting["stream"]
        self.kind: str = setting["kind"]
        self.ran: list[str] = []

    def tool(self, name: str) -> str:
        self.ran.append(name)
        return RESULTS[name]

    def functions(self) -> list[Any]:
        """The tools as plain functions, as frameworks take them."""

        def read_note(name: str) -> str:
            """Reads a note."""
            return self.tool("read_note")

        def send_mail(name: str) -> str:
            """Sends a mail."""
            return self.tool("send_mail")

        return [read_note, send_mail]


def openai_chat(run: Run) -> Any:
    client = openai.OpenAI(base_url=f"{run.base}/openai/v1", api_key=run.key, max_retries=0)
    tools: list[Any] = [
        {"type": "function", "function": {"name": name, "parameters": SCHEMA, "strict": True}} for name in RESULTS
    ]
    messages: list[Any] = [{"role": "user", "content": TASK}]
    for _ in range(MOST_TURNS):
        body: dict[str, Any] = {"model": MODEL, "messages": messages, "tools": tools}
        if run.stream:
            given = {"response_format": Note} if run.kind == "structured" else {}
            with client.chat.completions.stream(**body, **given) as stream:
                message = stream.get_final_completion().choices[0].message
        elif run.kind == "structured":
            message = client.chat.completions.parse(**body, response_format=Note).choices[0].message
        else:
            message = client.chat.completions.create(**body).choices[0].message
        if not message.tool_calls:
            return ended(message, "parsed") if run.kind == "structured" else message.content
        messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": run.tool(call.function.name)})
    raise RuntimeError("the loop does not end")


def ended(message: Any, member: str) -> Any:
    """The structured output, or the refusal."""
    parsed = getattr(message, member)
    return {"refusal": message.refusal} if parsed is None else parsed.model_dump()


def openai_responses(run: Run) -> Any:
    client = openai.OpenAI(base_url=f"{run.base}/openai/v1", api_key=run.key, max_retries=0)
    tools: list[Any] = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": True} for name in RESULTS]
    said: list[Any] = [{"role": "user", "content": TASK}]
    for _ in range(MOST_TURNS):
        body: dict[str, Any] = {"model": MODEL, "input": said, "tools": tools, "store": False}
        given = {"text_format": Note} if run.kind == "structured" else {}
        if run.stream:
            with client.responses.stream(**body, **given) as stream:
                response = stream.get_final_response()
        else:
            response = client.responses.parse(**body, **given) if given else client.responses.create(**body)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return structured(response) if given else response.output_text
        said += [item.model_dump(exclude_none=True, exclude={"parsed_arguments", "status"}) for item in response.output]
        said += [
            {"type": "function_call_output", "call_id": call.call_id, "output": run.tool(call.name)} for call in calls
        ]
    raise RuntimeError("the loop does not end")


def structured(response: Any) -> Any:
    if response.output_parsed is not None:
        return response.output_parsed.model_dump()
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    return {"refusal": "".join(part.refusal for part in parts if part.type == "refusal")}


def anthropic_messages(run: Run) -> Any:
    client = anthropic.Anthropic(base_url=f"{run.base}/anthropic", api_key=run.key, max_retries=0)
    tools: list[Any] = [{"name": name, "description": name, "input_schema": SCHEMA} for name in RESULTS]
    messages: list[Any] = [{"role": "user", "content": TASK}]
    for _ in range(MOST_TURNS):
        body: dict[str, Any] = {
            "model": "claude-opus-5",
            "max_tokens": 1000,
            "messages": messages,
            "tools": tools,
        }
        if run.stream:
            with client.messages.stream(**body) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**body)
        calls = [part for part in message.content if part.type == "tool_use"]
        if not calls:
            return "".join(part.text for part in message.content if part.type == "text")
        messages.append({"role": "assistant", "content": [part.to_dict() for part in message.content]})
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": run.tool(call.name)} for call in calls]
        messages.append({"role": "user", "content": results})
    raise RuntimeError("the loop does not end")


async def openai_agents(run: Run, responses: bool) -> Any:
    import agents

    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=f"{run.base}/openai/v1", api_key=run.key, max_retries=0)
    of = agents.OpenAIResponsesModel if responses else agents.OpenAIChatCompletionsModel
    model = of(model=MODEL, openai_client=client)
    billing = agents.Agent(name="billing", model=model)
    agent = agents.Agent(
        name="front",
        model=model,
        tools=[agents.function_tool(function) for function in run.functions()],
        output_type=Note if run.kind == "structured" else None,
        handoffs=[billing] if run.kind == "handoff" else [],
    )
    if run.stream:
        result = agents.Runner.run_streamed(agent, TASK, max_turns=MOST_TURNS)
        async for _ in result.stream_events():
            pass
    else:
        result = await agents.Runner.run(agent, TASK, max_turns=MOST_TURNS)
    output = result.final_output
    if run.kind == "handoff":
        return [result.last_agent.name, output]
    return output.model_dump() if isinstance(output, BaseModel) else output


async def drained(_: Any, events: Any) -> None:
    async for _ in events:
        pass


async def pydantic_ai(run: Run, dialect: str) -> Any:
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    if dialect == "anthropic":
        provider = AnthropicProvider(
            anthropic_client=anthropic.AsyncAnthropic(
                base_url=f"{run.base}/anthropic", api_key=run.key, max_retries=0
            )
        )
        model: Any = AnthropicModel("claude-opus-5", provider=provider)
    else:
        client = openai.AsyncOpenAI(base_url=f"{run.base}/openai/v1", api_key=run.key, max_retries=0)
        of = OpenAIResponsesModel if dialect == "responses" else OpenAIChatModel
        model = of(MODEL, provider=OpenAIProvider(openai_client=client))
    output_type: Any = Note if run.kind == "structured" else str
    agent: Any = Agent(model, tools=run.functions(), output_type=output_type, retries=0)
    # Not `run_stream`: it takes the first text for the answer, also without a gateway.
    handler = drained if run.stream else None
    output = (await agent.run(TASK, event_stream_handler=handler)).output
    return output.model_dump() if isinstance(output, BaseModel) else output


def langchain_model(run: Run, dialect: str) -> Any:
    from langchain_anthropic import ChatAnthropic
    from langchain_openai import ChatOpenAI

    if dialect == "anthropic":
        base = f"{run.base}/anthropic"
        return ChatAnthropic(
            model="claude-opus-5", api_key=run.key, base_url=base, max_retries=0, streaming=run.stream
        )
    return ChatOpenAI(
        model=MODEL,
        api_key=run.key,
        base_url=f"{run.base}/openai/v1",
        max_retries=0,
        streaming=run.stream,
        use_responses_api=dialect == "responses",
    )


def langchain(run: Run, dialect: str) -> Any:
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ToolStrategy

    model = langchain_model(run, dialect)
    if run.kind == "handoff":
        return langgraph_handoff(run, model)
    response_format = ToolStrategy(Note) if run.kind == "structured" else None
    agent = create_agent(model, tools=run.functions(), response_format=response_format)
    state = agent.invoke({"messages": [{"role": "user", "content": TASK}]}, {"recursion_limit": 20})
    if run.kind == "structured":
        note = state.get("structured_response")
        return {"none": state["messages"][-1].text} if note is None else note.model_dump()
    return state["messages"][-1].text


def langgraph_handoff(run: Run, model: Any) -> Any:
    """Two agents in a graph: a tool of the first one hands over to the second."""
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import Command

    @tool
    def transfer_to_billing() -> Any:
        """Hands over to billing."""
        return Command(goto="billing", graph=Command.PARENT, update={"messages": []})

    graph = StateGraph(MessagesState)
    graph.add_node("front", create_agent(model, tools=[transfer_to_billing]), destinations=("billing",))
    graph.add_node("billing", lambda state: {"messages": [("ai", "Paid.")]})
    graph.add_edge(START, "front")
    state = graph.compile().invoke({"messages": [("user", TASK)]})
    last = state["messages"][-1].text
    return ["billing" if last == "Paid." else "front", last]


# One loop for all runs: some clients keep connections between them.
LOOP = asyncio.new_event_loop()

AGENTS: dict[str, Any] = {
    "openai, chat": openai_chat,
    "openai, responses": openai_responses,
    "anthropic, anthropic": anthropic_messages,
    "openai-agents, chat": lambda run: LOOP.run_until_complete(openai_agents(run, False)),
    "openai-agents, responses": lambda run: LOOP.run_until_complete(openai_agents(run, True)),
    **{
        f"pydantic-ai-slim, {dialect}": lambda run, dialect=dialect: LOOP.run_until_complete(pydantic_ai(run, dialect))
        for dialect in ("chat", "responses", "anthropic")
    },
    **{
        f"langchain, {dialect}": lambda run, dialect=dialect: langchain(run, dialect)
        for dialect in ("chat", "responses", "anthropic")
    },
}

for line in sys.stdin:
    setting = json.loads(line)
    run = Run(setting)
    try:
        outcome: dict[str, Any] = {"output": AGENTS[setting["agent"]](run)}
    except Exception as error:
        outcome = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({**outcome, "ran": run.ran}), flush=True)
