# SPDX-License-Identifier: Apache-2.0
"""The sums of a speedscope file's profiles, if it is as its schema says."""
import json
import sys

data = json.load(open(sys.argv[1], encoding="utf-8"))
assert data["$schema"].endswith("speedscope.app/file-format-schema.json")
assert isinstance(data["exporter"], str) and isinstance(data["name"], str)
frames = data["shared"]["frames"]
for frame in frames:
    assert set(frame) <= {"name", "file", "line", "col"}, frame
    assert isinstance(frame["name"], str), frame
    assert isinstance(frame.get("file", ""), str), frame
    assert isinstance(frame.get("line", 1), int), frame
assert 0 <= data["activeProfileIndex"] < len(data["profiles"])
for profile in data["profiles"]:
    assert set(profile) == {"type", "name", "unit", "startValue", "endValue",
                            "samples", "weights"}, set(profile)
    assert profile["type"] == "sampled" and profile["unit"] == "bytes"
    assert len(profile["samples"]) == len(profile["weights"])
    assert all(0 <= frame < len(frames)
               for stack in profile["samples"] for frame in stack)
    total = sum(profile["weights"])
    assert profile["startValue"] == 0 and profile["endValue"] == total
    print(profile["name"] + ":", total)
