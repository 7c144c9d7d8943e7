#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A reader of logs written from heaphook-log(5) alone, and from nothing
else: what it finds must be what heaphook-report finds.

    log-page.py LOG [PARENT'S LOG]   the totals, one "name value" a line
    log-page.py --events LOG         what was called, for which block
    log-page.py --stacks LOG         of each block its size, the object that
                                     it was asked for in, and the callers
    log-page.py --took LOG           how long each call took, in units
    log-page.py --imprint LOG FILE   whether it is one of its objects
"""
import struct
import sys

MALLOC, FREE, CALLOC = 1, 2, 3
(TIME, ALLOC, XFREE, REALLOC, RESIZE, RESIZED, FAILED, THREAD, NAME, MARK,
 PAUSE, RESUME, NESTED, INHERIT, MAP, FRAME, OBJECT, PATH,
 UNLOAD, TOOK, IMPRINT) = range(4, 85, 4)
CALLS = ("malloc calloc realloc reallocarray posix_memalign aligned_alloc "
         "memalign valloc pvalloc free mmap munmap mremap brk").split()
# What a body holds behind the time: i integer, a address, t the rest.
BODIES = {TIME: "", ALLOC: "iiiai", XFREE: "a", REALLOC: "aaii",
          RESIZE: "a", RESIZED: "aii", FAILED: "ii", THREAD: "iit",
          NAME: "it", MARK: "t", PAUSE: "", RESUME: "", NESTED: "iii",
          INHERIT: "iii", MAP: "iiiii", FRAME: "iii", OBJECT: "iiiit",
          PATH: "t", UNLOAD: "i", TOOK: "i", IMPRINT: "i"}
TIMED = MALLOC, FREE, CALLOC, ALLOC, XFREE, REALLOC, RESIZED, FAILED
M64 = 2 ** 64 - 1


def unzigzag(z):
    return z >> 1 ^ -(z & 1)


def usable_of(rule, size):
    units = max(size + 8 + 15 & ~15, 32)
    if rule == 2 and 128 < units <= 32768:
        step = 1 << (units - 1).bit_length() - 4
        units = units + step - 1 & -step
    return units - 8


class Chunk:
    def __init__(self, order, data, usable_rule):
        self.rule = usable_rule
        self.data = data
        (self.slot, self.flags, self.seq, self.base, self.tid,
         self.thread) = struct.unpack_from(order + "IIQQi4xQ", data, 8)
        self.counters = struct.unpack_from(order + "QQQqqQ", data, 64)
        total, again = struct.unpack_from(order + "QQ", data, len(data) - 16)
        self.whole = again == self.seq
        self.end = len(data) - 16 if self.whole else len(data)
        if self.whole:
            a, b, made = [1, 2, 3, 4], [0] * 4, 0
            words = struct.iter_unpack(order + "Q", data[:-16])
            for i, (word,) in enumerate(words):
                a[i % 4] = a[i % 4] + word & M64
                b[i % 4] = b[i % 4] + a[i % 4] & M64
            for x, y in zip(a, b):
                made = (made << 13 & M64 | made >> 51) ^ x
                made ^= y << 32 & M64 | y >> 32
            assert total == made, "sum"

    def integer(self, at):
        value = shift = 0
        while True:
            byte = self.data[at]
            value |= (byte & 127) << shift
            shift += 7
            at += 1
            if byte < 128:
                return value, at

    def short(self, at):
        tag = self.data[at]
        kind, steps = tag & 3, tag >> 2 & 7
        again = steps == 7
        assert not again or kind != FREE
        steps = 0 if again else steps
        sizes = 0 if again or kind == FREE else 2
        at += 1
        if tag & 128:
            self.time += int.from_bytes(self.data[at:at + 2], "little")
            at += 2
        size = int.from_bytes(self.data[at:at + sizes], "little")
        at += sizes
        if again:
            size = self.size
        elif sizes and not steps:
            self.size = size
        stacks = tag >> 5 & 3
        self.stack = int.from_bytes(self.data[at:at + stacks], "little")
        at += stacks
        step = int.from_bytes(self.data[at:at + steps], "little")
        self.last = self.last + unzigzag(step) & M64
        usable = usable_of(self.rule, size & 0x7fff) + (size >> 15) * 16
        size &= 0x7fff
        assert kind == FREE or self.rule in (1, 2)
        fields = () if kind == FREE else (size, usable)
        return kind, (self.last * 16 & M64,) + fields, at + steps

    def long(self, at):
        kind, end = self.data[at], at + 2 + self.data[at + 1]
        step, at = self.integer(at + 2)
        self.time += step
        fields = []
        for what in BODIES.get(kind, ""):
            if what == "t":
                fields.append(self.data[at:end])
                break
            value, at = self.integer(at)
            if what == "a":
                value = self.last * 16 + unzigzag(value) & M64
                self.last = value // 16
            fields.append(value)
        self.stack = 0
        if kind in (ALLOC, REALLOC, RESIZED) and at < end:
            self.stack, at = self.integer(at)
        return kind, tuple(fields), end

    def events(self):
        """(time, kind, fields, offset), without the end"""
        self.time, self.last, self.size, at = self.base, 0, 0, 256
        while at < self.end and self.data[at]:
            start = at
            read = self.short if self.data[at] & 3 else self.long
            kind, fields, at = read(at)
            yield self.time, kind, fields, start, self.stack


class Log:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        order = {b"heaphook": "<", b"koohpaeh": ">"}[data[:8]]
        self.version, at, self.mode, self.flags = struct.unpack_from(
            order + "IIII", data, 8)
        assert self.version == 2
        self.pid, = struct.unpack_from(order + "i", data, 96)
        self.rule, = struct.unpack_from(order + "I", data, 124)
        self.state, self.status = struct.unpack_from(order + "Ii", data, 360)
        self.stop, = struct.unpack_from(order + "I", data, 376)
        self.others = struct.unpack_from(order + "QQQqqQ", data, 504)
        self.units, self.least = struct.unpack_from(order + "II", data, 592)
        self.chunks = {}
        while at < len(data):
            magic, size = struct.unpack_from(order + "II", data, at)
            if magic != 0x6b684848 or size % 4096 or not 0 < size <= 1 << 20:
                at += 4096
                continue
            if at + size <= len(data):
                chunk = Chunk(order, data[at:at + size], self.rule)
                if chunk.seq:
                    self.chunks.setdefault((chunk.slot, chunk.seq), chunk)
            at += size

    def counters(self):
        newest = {slot: seq for slot, seq in sorted(self.chunks)}
        each = [self.chunks[key].counters for key in newest.items()]
        return [sum(column) for column in zip(self.others, *each)]

    def streams(self):
        """The events of each slot, those of handlers where they belong."""
        slots, nested, into = {}, {}, {}
        for slot, seq in sorted(self.chunks):
            into.setdefault(slot, slots.setdefault(slot, []))
            for time, kind, fields, at, stack in (
                    self.chunks[slot, seq].events()):
                if kind == NESTED:
                    into[slot] = nested.setdefault(fields, [])
                else:
                    into[slot].append((time, kind, fields, (slot, seq, at),
                                       stack))
        return [self.woven(events, nested, True)
                for events in slots.values()]

    def woven(self, events, nested, last=False):
        all_of_it = []
        for event in events:
            for place in sorted(nested):
                if place[0] == event[3][0] and place <= event[3]:
                    all_of_it += self.woven(nested.pop(place, []), nested)
            all_of_it.append(event)
        for place in sorted(nested) if last and events else ():
            if place[0] == events[0][3][0]:
                all_of_it += self.woven(nested.pop(place, []), nested)
        return all_of_it


class Heap:
    """The blocks of a process, and what was counted of them."""

    def __init__(self):
        self.live, self.moving = {}, {}
        self.allocations = self.frees = self.failed = self.unknown = 0
        self.bytes = self.peak = self.allocated = self.usable = 0

    def add(self, address, size, usable):
        self.live[address] = size, usable
        self.allocations += 1
        self.allocated += size

    def change(self, size, usable):
        self.bytes += size
        self.usable += usable
        self.peak = max(self.peak, self.bytes)

    def take(self, address):
        self.frees += 1
        self.unknown += address not in self.live
        return self.live.pop(address, (0, 0))

    def apply(self, stream, kind, f):
        if kind in (MALLOC, CALLOC):
            self.add(*f)
            self.change(f[1], f[2])
        elif kind == ALLOC:
            self.add(f[3], f[1], f[1] + f[4])
            self.change(f[1], f[1] + f[4])
        elif kind in (FREE, XFREE):
            size, usable = self.take(f[0])
            self.change(-size, -usable)
        elif kind == REALLOC:
            size, usable = self.take(f[0])
            self.add(*f[1:3], f[2] + f[3])
            self.change(f[2] - size, f[2] + f[3] - usable)
        elif kind == RESIZE:
            self.moving[stream] = f[0], self.take(f[0])
        elif kind == RESIZED:
            size, usable = self.moving.pop(stream)[1]
            self.add(f[0], f[1], f[1] + f[2])
            self.change(f[1] - size, f[1] + f[2] - usable)
        elif kind == FAILED:
            self.failed += 1
            if stream in self.moving:
                address, block = self.moving.pop(stream)
                self.live[address] = block
                self.frees -= 1

    def waits(self, kind, f):
        """Which address must first be freed, which first be allocated."""
        if kind in (MALLOC, CALLOC, ALLOC, RESIZED):
            address = f[3] if kind == ALLOC else f[0]
            return address in self.live
        if kind in (FREE, XFREE, RESIZE):
            return f[0] not in self.live
        return False


def replay(streams, heap):
    heads = [0] * len(streams)
    while True:
        first = [(streams[i][at][0], i) for i, at in enumerate(heads)
                 if at < len(streams[i])]
        if not first:
            return
        # Whoever waits for another lets it go first, if it comes at all.
        ready = [(t, i) for t, i in first
                 if not heap.waits(*streams[i][heads[i]][1:3])]
        i = min(ready or first)[1]
        now, kind, fields, _, _ = streams[i][heads[i]]
        heap.apply(i, kind, fields)
        heads[i] += 1


def before(log, child):
    """What of each stream of LOG its CHILD has seen."""
    places = {f[0]: f[1:] for stream in child.streams()
              for _, kind, f, _, _ in stream if kind == INHERIT}
    return [[e for e in stream
             if e[3][0] in places and e[3][1:] < places[e[3][0]]]
            for stream in log.streams()]


def show(kind, f):
    if kind in (MALLOC, CALLOC):
        print("malloc" if kind == MALLOC else "calloc", hex(f[0]), f[1])
    elif kind == ALLOC:
        print(CALLS[f[0]], hex(f[3]), f[1])
    elif kind in (FREE, XFREE):
        print("free", hex(f[0]))
    elif kind == REALLOC:
        print("realloc", hex(f[1]), f[2])
    elif kind == RESIZED:
        print("realloc", hex(f[0]), f[1])
    elif kind == FAILED:
        print(CALLS[f[0]], "failed", f[1])


def name(kind, f):
    if kind in (ALLOC, FAILED):
        return CALLS[f[0]]
    return {MALLOC: "malloc", CALLOC: "calloc", FREE: "free",
            XFREE: "free"}.get(kind, "realloc")


def took(log):
    assert log.units and log.least
    slot = seq = waiting = None
    for key in sorted(log.chunks):
        if key != (slot, seq and seq + 1):
            waiting = []
        slot, seq = key
        for _, kind, f, _, _ in log.chunks[key].events():
            if kind in TIMED:
                waiting.append((kind, f))
            elif kind == TOOK and waiting:
                print(name(*waiting.pop()), f[0])


def stacks(log):
    frames, objects, path = {}, {}, {}
    for event in sorted(sum(log.streams(), []), key=lambda e: e[0]):
        _, kind, f, place, stack = event
        if kind == FRAME:
            at = [o[4] for o in objects.values() if o[1] <= f[2] < o[1] + o[2]]
            frames[f[0]] = f[1], f[2], at[0] if at else b"?"
        elif kind == OBJECT:
            path[place[0]] = f[1]
            objects[f[1]] = f[:4] + (f[4][f[3]:],)
        elif kind == PATH:
            o = objects[path[place[0]]]
            objects[o[1]] = o[:4] + (o[4] + f[0],)
        elif kind == UNLOAD:
            objects.pop(f[0], None)
        elif kind in (MALLOC, CALLOC, ALLOC, REALLOC, RESIZED):
            size = f[2] if kind == REALLOC else f[1]
            words = [str(size), frames[stack][2].decode() or "-"]
            while stack:
                stack, address, _ = frames[stack]
                words.append(hex(address))
            print(" ".join(words))


def imprint(data):
    at, = struct.unpack_from("<Q", data, 32)
    each, count = struct.unpack_from("<HH", data, 54)
    behind = at + each * count
    headers = list(struct.iter_unpack("<IIQQQQQQ", data[at:behind]))
    loads = [h for h in headers if h[0] == 1]
    told = b"".join(struct.pack("<QQ", h[3], h[6]) for h in loads)
    table = [h for h in headers if h[0] == 0x6474e550]
    table, place = (data[table[0][2]:][:table[0][5]], table[0][3]) if table \
        else (b"", 0)
    told += table[:32768]
    _, flags, offset, address, _, size, _, _ = loads[0]
    end = size if not flags & 2 and offset <= behind < offset + size else 0
    if flags & 1:
        end = min(end, place + struct.unpack_from("<i", table, 12)[0]
                  - address) if len(table) >= 16 \
            and table[:4] == b"\1\x1b\3\x3b" else 0
    told += data[behind:max(behind, offset + end)][:32768]
    made = 0xcbf29ce484222325
    for byte in told:
        made = (made ^ byte) * 0x100000001b3 & M64
    return made


def main():
    if sys.argv[1] == "--imprint":
        with open(sys.argv[3], "rb") as file:
            wanted = imprint(file.read())
        print(sum(kind == IMPRINT and fields[0] == wanted
                  for stream in Log(sys.argv[2]).streams()
                  for _, kind, fields, _, _ in stream))
        return
    if sys.argv[1] == "--events":
        for stream in Log(sys.argv[2]).streams():
            for _, kind, fields, _, _ in stream:
                show(kind, fields)
        return
    if sys.argv[1] in ("--stacks", "--took"):
        (stacks if sys.argv[1] == "--stacks" else took)(Log(sys.argv[2]))
        return
    log, heap = Log(sys.argv[1]), Heap()
    if len(sys.argv) > 2:
        replay(before(Log(sys.argv[2]), log), heap)
        kept = heap
        heap = Heap()
        heap.live, heap.peak = kept.live, kept.bytes
        heap.bytes, heap.usable = kept.bytes, kept.usable
    replay(log.streams(), heap)
    print("pid", log.pid)
    print("allocations", heap.allocations)
    print("frees", heap.frees)
    print("failed", heap.failed)
    print("allocated_bytes", heap.allocated)
    print("peak_bytes", heap.peak)
    print("live_blocks", len(heap.live))
    print("live_bytes", heap.bytes)
    print("live_usable_bytes", heap.usable)
    for counted, found in zip(log.counters(), (heap.allocations, heap.frees,
                                               heap.failed)):
        assert counted <= found or log.stop


main()
