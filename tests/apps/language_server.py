"""language_server.py FILE.yaml [--settings settings.json] [--hover LINE:COLUMN] [--complete LINE:COLUMN]: what
yaml-language-server, which VS Code's YAML extension runs, says of a file in a workspace that is the file's folder: a line
`line:column: message` for each mistake; the text that it shows for one place, as a line; `name | text` for each proposal in
another; and "done"."""
import argparse
import json
import pathlib
import subprocess

arguments = argparse.ArgumentParser()
arguments.add_argument("file", type=pathlib.Path)
arguments.add_argument("--settings", type=pathlib.Path)
arguments.add_argument("--hover")
arguments.add_argument("--complete")
options = arguments.parse_args()
path = options.file.resolve()
settings = json.loads(options.settings.read_text()) if options.settings else {}
server = subprocess.Popen(["yaml-language-server", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()


def receive():
    length = 0
    while line := server.stdout.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(server.stdout.read(length))


def answer(question):
    """Settings, by section; nothing to all other questions."""
    items = question["params"].get("items", [])
    found = [{key[5:]: value for key, value in settings.items()} if one["section"] == "yaml" else {} for one in items]
    send(id=question["id"], result=found)


def asked(method, place):
    """What the server answers about a place LINE:COLUMN, both counted from 1."""
    line, column = (int(number) - 1 for number in place.split(":"))
    send(id=2, method="textDocument/" + method,
         params={"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": column}})
    while (reply := receive()).get("id") != 2 or "method" in reply:
        if "id" in reply and "method" in reply:
            answer(reply)
    return reply["result"] or {}


folder = {"uri": path.parent.as_uri(), "name": "workspace"}
abilities = {"workspace": {"configuration": True, "workspaceFolders": True}}
send(id=1, method="initialize",
     params={"processId": None, "rootUri": folder["uri"], "workspaceFolders": [folder], "capabilities": abilities})
while receive().get("id") != 1:
    pass
send(method="initialized", params={})
send(method="workspace/didChangeConfiguration", params={"settings": None})
opened = False
while (message := receive()).get("method") != "textDocument/publishDiagnostics":
    if "id" in message and "method" in message:
        answer(message)
        if message["method"] == "workspace/configuration" and not opened:
            opened = True
            document = {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": path.read_text()}
            send(method="textDocument/didOpen", params={"textDocument": document})
for one in message["params"]["diagnostics"]:
    at = one["range"]["start"]
    print(f"{at['line'] + 1}:{at['character'] + 1}: {one['message']}")
if options.hover:
    print(asked("hover", options.hover).get("contents", {}).get("value", "").replace("\n", " "))
if options.complete:
    for one in asked("completion", options.complete).get("items", []):
        text = one.get("documentation", "")
        print(one["label"], "|", text["value"] if isinstance(text, dict) else text)
print("done")
server.kill()
