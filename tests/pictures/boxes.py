# SPDX-License-Identifier: Apache-2.0
"""What an svg of heaphook-report holds, and whether it can be right.

boxes.py FILE [REPORT.json [KEY]]
"""
import json
import re
import sys
import xml.etree.ElementTree as tree

NAMESPACE = "{http://www.w3.org/2000/svg}"
text = open(sys.argv[1], encoding="utf-8").read()
root = tree.fromstring(text.encode())
found = {node.get("id"): node for node in root.iter() if node.get("id")}


def number(node, key):
    return float(node.get(key))


def boxes():
    for node in found["flames"]:
        title = node.find(NAMESPACE + "title").text.split("\n")
        yield {"name": title[0], "amount": title[1], "node": node,
               "row": int(node.get("data-row")),
               "from": int(node.get("data-from")),
               "value": int(node.get("data-value"))}


def check(listed):
    """Each box lies in that of its caller and beside the others there."""
    total = int(found["flames"].get("data-total"))
    left, width = (number(found["flames"], "data-" + key)
                   for key in ("left", "width"))
    assert listed[0]["row"] == 0 and listed[0]["value"] == total
    colors, stack = {}, []
    for box in listed:
        node = box["node"]
        assert abs(number(node, "x") - left
                   - width * box["from"] / total) < 0.02, box
        assert abs(number(node, "width")
                   - width * box["value"] / total) < 0.02, box
        del stack[box["row"]:]
        assert len(stack) == box["row"], box
        if stack:
            caller = stack[-1]
            assert box["from"] >= caller["next"], box
            assert box["from"] + box["value"] \
                <= caller["from"] + caller["value"], box
            assert number(node, "y") > number(caller["node"], "y")
            caller["next"] = box["from"] + box["value"]
        box["next"] = box["from"]
        stack.append(box)
        color = node.find(NAMESPACE + "rect").get("class")
        assert colors.setdefault(box["name"], color) == color
        for shown in node.iter(NAMESPACE + "text"):
            assert shown.text == box["name"]


def own(text):
    """Nothing of it is elsewhere."""
    bare = text.replace('"http://www.w3.org/2000/svg"', "")
    return not re.search(r"https?:|href|src=|url\(|@import|fetch\(|XMLHttp",
                         bare)


listed = list(boxes())
if listed:
    check(listed)
assert own(text), "something lies elsewhere"
if len(sys.argv) > 2:
    log = json.load(open(sys.argv[2]))["logs"][0]
    key = (sys.argv[3:] or ["peak_bytes"])[0]
    wanted = sum(site[key] for site in log["sites"] or [])
    if key == "peak_bytes" and log["sites"]:
        assert wanted == log["peak_bytes"]
    got = int(found["flames"].get("data-total"))
    assert got == wanted, (got, wanted)
    points = [n for n in root.iter() if n.get("class") == "point"]
    assert len(points) == len(log["timeline"])
print("right")
for box in listed:
    print(box["row"], box["value"], box["name"])
