"""LangGraph with guarded tools. A denial is the answer of the tool, so that the model can read it and continue.

The model is scripted, so that the example needs no key. In your program, put the model of your provider into the node `model`.
"""

import json
import os
import sys
import uuid
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tollgate import Client, ToolDenied

missing = [name for name in ("TOLLGATE_URL", "TOLLGATE_AGENT_TOKEN") if not os.environ.get(name)]
if missing:
    sys.exit(f"set {', '.join(missing)}; see examples/README.md")

session = f"langgraph-{uuid.uuid4()}"
gate = Client(os.environ["TOLLGATE_URL"], os.environ["TOLLGATE_AGENT_TOKEN"], session=session)
ran: list[str] = []


@gate.guard("demo/read_note")
def read(name: str) -> str:
    ran.append("read_note")
    return f"{name}: buy milk"


@gate.guard("demo/delete_note", on_denied="return")
def delete(name: str) -> str:
    ran.append("delete_note")
    return f"{name} is gone"


@tool
def read_note(name: str) -> str:
    """Reads a note."""
    return str(read(name))


@tool
def delete_note(name: str) -> str:
    """Deletes a note."""
    answer = delete(name)
    return json.dumps(answer.to_dict()) if isinstance(answer, ToolDenied) else str(answer)


def call(name: str) -> dict[str, Any]:
    return {"name": name, "args": {"name": "todo"}, "id": f"call-{name}", "type": "tool_call"}


script = iter(
    [
        AIMessage(content="", tool_calls=[call("read_note"), call("delete_note")]),
        AIMessage(content="I read the note. I may not delete it."),
    ]
)


def model(state: MessagesState) -> dict[str, list[AIMessage]]:
    return {"messages": [next(script)]}


graph = StateGraph(MessagesState)
graph.add_node("model", model)
graph.add_node("tools", ToolNode([read_note, delete_note]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")

answer = graph.compile().invoke({"messages": [("user", "Read the note, then delete it.")]})
texts = {each.name: str(each.content) for each in answer["messages"] if isinstance(each, ToolMessage)}
denial = json.loads(texts["delete_note"])
assert texts["read_note"] == "todo: buy milk"
assert denial["reason_code"] == "POLICY_VIOLATION"
assert ran == ["read_note"]
print("read_note:", texts["read_note"])
print("delete_note: denied,", denial["reason_code"])
print("model:", answer["messages"][-1].content)
