# SPDX-License-Identifier: Apache-2.0
"""Whether a file for a viewer adds up to what the report says.

sums.py FORM FILE REPORT.json
"""
import gzip
import json
import re
import sys


def fields(data):
    """The fields of a protocol buffer: numbers, and bytes of the others."""
    at = 0

    def uint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = uint()
        value = uint()
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def packed(data):
    return [value for _, value in fields(b"".join(
        b"\0" + part for part in re.findall(rb"[\x80-\xff]*[\0-\x7f]",
                                            data)))]


def pprof(path):
    profile = list(fields(gzip.open(path).read()))
    texts = [v.decode() for k, v in profile if k == 6]
    assert texts[0] == "" and len(set(texts)) == len(texts)
    types = [texts[dict(fields(v))[1]] for k, v in profile if k == 1]
    mappings = [dict(fields(v)) for k, v in profile if k == 3]
    locations = [list(fields(v)) for k, v in profile if k == 4]
    functions = {dict(fields(v))[1] for k, v in profile if k == 5}
    ids = [dict(l)[1] for l in locations]
    assert len(set(ids)) == len(ids) and 0 not in ids
    for location in locations:
        mapping = dict(location).get(2)
        assert not mapping or any(
            m[1] == mapping and m[2] <= dict(location)[3] < m[3]
            for m in mappings), location
        for number, line in location:
            assert number != 4 or dict(fields(line))[1] in functions
    sums = [0] * len(types)
    for sample in (dict(fields(v)) for k, v in profile if k == 2):
        assert set(packed(sample[1])) <= set(ids)
        sums = [a + b for a, b in zip(sums, packed(sample[2]))]
    return dict(zip(types, sums))


def massif(path):
    text = open(path, encoding="utf-8").read()
    times = [float(t) for t in re.findall(r"^time=(.*)", text, re.M)]
    assert times == sorted(times) and len(times) > 0
    heaps = [int(b) for b in re.findall(r"^mem_heap_B=(.*)", text, re.M)]
    peak, tree = re.search(r"^mem_heap_B=(\d+)\n.*\n.*\nheap_tree=peak\n"
                           r"((?: *n.*\n)+)", text, re.M).groups()
    lines = [re.match(r"( *)n(\d+): (\d+) ", line).groups()
             for line in tree.splitlines()]
    nodes = [(len(blanks), int(below), int(size))
             for blanks, below, size in lines]
    for i, (depth, below, size) in enumerate(nodes):
        end = next((k for k in range(i + 1, len(nodes))
                    if nodes[k][0] <= depth), len(nodes))
        children = [n for n in nodes[i + 1:end] if n[0] == depth + 1]
        assert len(children) == below, lines[i]
        assert not below or depth or sum(n[2] for n in children) == size
    return {"peak_space": int(peak), "inuse_space": heaps[-1],
            "most": max(heaps), "tree": nodes[0][2]}


def folded(path):
    return {"peak_space": sum(int(line.rsplit(" ", 1)[1])
                              for line in open(path, encoding="utf-8"))}


def speedscope(path):
    names = {"peak": "peak_space", "live at end": "inuse_space",
             "allocated": "alloc_space"}
    data = json.load(open(path, encoding="utf-8"))
    return {names[p["name"]]: sum(p["weights"]) for p in data["profiles"]}


def callgrind(path):
    """Own costs, which are those that no call comes before."""
    sums = [0] * 4
    own = True
    for line in open(path, encoding="utf-8"):
        if re.match(r"\d", line) and own:
            sums = [a + int(b) for a, b in zip(sums, line.split()[1:])]
        if line.startswith("totals:"):
            assert sums == [int(n) for n in line.split()[1:]], line
        own = not line.startswith("calls=")
    return dict(zip(("alloc_objects", "alloc_space", "peak_space",
                     "inuse_space"), sums))


def dhat(path):
    names = {"tbk": "alloc_objects", "tb": "alloc_space",
             "ebk": "inuse_objects", "eb": "inuse_space",
             "gbk": "peak_objects", "gb": "peak_space"}
    data = json.load(open(path, encoding="utf-8"))
    for point in data["pps"]:
        assert point["mb"] >= max(point["gb"], point["eb"]), point
        assert all(0 < f < len(data["ftbl"]) for f in point["fs"]), point
    return {name: sum(point[key] for point in data["pps"])
            for key, name in names.items()}


def heaptrack(path):
    counts = {"s": 0, "i": 0, "t": 0}
    infos = []
    live = peak = blocks = calls = time = 0
    for line in open(path, encoding="utf-8"):
        kind, *words = line.split()
        if kind == "s":
            length = int(words[0], 16)
            assert len(line.split(" ", 2)[2].encode()) == length + 1, line
        numbers = [int(w, 16) for w in words] if kind in "ita+-c" else []
        if kind in counts:
            counts[kind] += 1
        if kind == "i":
            assert max(numbers[1:2] + numbers[2::3]) <= counts["s"], line
        if kind == "t":
            assert 0 < numbers[0] <= counts["i"], line
            assert numbers[1] < counts["t"], line
        if kind == "a":
            assert numbers[1] <= counts["t"], line
            infos.append(numbers[0])
        if kind in "+-":
            sign = 1 if kind == "+" else -1
            live += sign * infos[numbers[0]]
            blocks += sign
            calls += kind == "+"
            peak = max(peak, live)
        if kind == "c":
            assert numbers[0] >= time, line
            time = numbers[0]
    return {"alloc_objects": calls, "inuse_objects": blocks,
            "inuse_space": live, "peak_space": peak}


def report(path):
    names = {"alloc_objects": "allocations", "alloc_space": "allocated_bytes",
             "inuse_objects": "live_blocks", "inuse_space": "live_bytes",
             "peak_space": "peak_bytes"}
    log = json.load(open(path, encoding="utf-8"))["logs"][0]
    return {name: log[key] for name, key in names.items()}


form, path, truth = sys.argv[1:]
found = globals()[form](path)
wanted = report(truth)
if form == "massif":
    assert found["tree"] == found["most"] == wanted["peak_space"], found
wrong = {k: (found[k], wanted[k]) for k in found
         if k in wanted and found[k] != wanted[k]}
print(wrong or "same")
