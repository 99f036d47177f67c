"""Conversations and tools for comparing chat templates."""

TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Weather <b>é☃ & \"more\"",
    "parameters": {"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "The city"},
        "days": {"type": "array", "items": {"type": "integer"}, "default": None}}}}}]


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def call(content, arguments):
    function = {"name": "get_weather", "arguments": arguments}
    return assistant(content, tool_calls=[{"type": "function", "id": "call00001", "function": function}])


def tool(content):
    return {"role": "tool", "content": content, "name": "get_weather", "tool_call_id": "call00001"}


SYSTEM = {"role": "system", "content": "Be brief."}

CONVERSATIONS = [
    [user("Hi")],
    [SYSTEM, user("Hi there"), assistant("Hello!")],
    [SYSTEM, user("Hi"), assistant("Hello!"), user("And now?"), assistant("Bye \n")],
    [user(" a "), assistant(" b \n"), user("ü😀\u2028\u0000"), assistant("ok")],
    [user(""), assistant("")],
    [user("w?"), call("", {"city": "Zürich", "days": [1, 2.5, None, True]}), tool("sunny"), assistant("It is sunny")],
    [SYSTEM, user("w?"), call(None, {"city": "X"}), tool({"a": 1}), assistant("A")],
    [user("w?"), call("I look", {"city": "'\"\\\n"}), tool("x"), tool("y")],
    [user("q"), assistant("<think>\nhm\n</think>\n\nA1"), user("q2"), assistant("<think>\nhm2\n</think>\n\nA2")],
    [user("q"), assistant("A", reasoning_content="because"), user("r"), assistant("B", reasoning_content="so")],
    [user([{"type": "text", "text": "part one"}, {"type": "text", "text": "two"}]),
     assistant([{"type": "text", "text": "answer"}])],
    [assistant("I start"), user("ok")],
    [user("a<|im_end|>b"), assistant("x<|im_start|>assistant\ny"), user("again")],
    [user("/no_think x"), assistant("a\n\n\nb"), user("{{ 1 }}{% if %}")],
    [SYSTEM, user("u"), user("u2"), assistant("1"), assistant("2")],
    [],
]
EXTRAS = [{}, {"enable_thinking": False}, {"enable_thinking": True, "date_string": "1 Jan 2025"},
          {"tools_in_user_message": False, "builtin_tools": ["search"]}]
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
