// SPDX-License-Identifier: Apache-2.0
// Runs the script of an svg on as much of a page as it needs, clicks on the
// first box called NAME, and looks where all boxes went.
//
// click.js FILE NAME
"use strict";
const fs = require("fs");
const vm = require("vm");
const text = fs.readFileSync(process.argv[2], "utf8");
const listeners = {};

class Node {
	constructor(tag) {
		this.tag = tag;
		this.attributes = {};
		this.children = [];
		this.textContent = "";
	}
	getAttribute(key) {
		return key in this.attributes ? this.attributes[key] : null;
	}
	setAttribute(key, value) {
		this.attributes[key] = String(value);
	}
	appendChild(child) {
		child.parentNode = this;
		this.children.push(child);
	}
	all() {
		return this.children.flatMap(c => [c, ...c.all()]);
	}
	getElementsByTagName(tag) {
		return this.all().filter(node => node.tag === tag);
	}
	getElementsByClassName(name) {
		return this.all().filter(node =>
			(node.getAttribute("class") || "").split(" ")
				.includes(name));
	}
	addEventListener(kind, run) {
		listeners[kind] = run;
	}
}

function plain(escaped) {
	return escaped.replace(/&lt;/g, "<").replace(/&gt;/g, ">")
		.replace(/&quot;/g, "\"").replace(/&amp;/g, "&");
}

function parse(xml) {
	const top = new Node("");
	let at = top;
	const parts = xml.replace(/<\?.*?\?>/, "")
		.match(/<!\[CDATA\[[^]*?\]\]>|<[^>]*>|[^<]+/g);

	for (const part of parts) {
		if (part.startsWith("<![CDATA[")) {
			at.textContent += part.slice(9, -3);
		} else if (part.startsWith("</")) {
			at = at.parentNode;
		} else if (part.startsWith("<")) {
			const node = new Node(part.match(/<(\w+)/)[1]);
			for (const [, k, v] of part.matchAll(
				/([\w-]+)="([^"]*)"/g))
				node.attributes[k] = plain(v);
			at.appendChild(node);
			if (!part.endsWith("/>"))
				at = node;
		} else {
			at.textContent += plain(part);
		}
	}
	return top.children[0];
}

const page = parse(text);
const byId = id => page.all().find(node => node.getAttribute("id") === id)
	|| null;
page.namespaceURI = page.getAttribute("xmlns");
const window = {
	addEventListener: page.addEventListener,
	prompt: () => "MAIN",
};
vm.runInNewContext(page.getElementsByTagName("script")[0].textContent, {
	window,
	document: {
		documentElement: page,
		getElementById: byId,
		createElementNS: (space, tag) => new Node(tag),
	},
});

let failed = 0;
function claim(what, is) {
	if (!is) {
		console.log("wrong: " + what);
		failed++;
	}
}
const flames = byId("flames"), info = byId("info");
const boxes = flames.getElementsByClassName("box");
const name = box => box.getElementsByTagName("title")[0]
	.textContent.split("\n")[0];
const range = box => {
	const from = +box.getAttribute("data-from");
	return [from, from + +box.getAttribute("data-value")];
};
const row = box => +box.getAttribute("data-row");
const seat = box => ["x", "width"].map(k => +box.getAttribute(k));
const before = boxes.map(seat);
const near = (a, b) => Math.abs(a - b) < 0.02;
const left = +flames.getAttribute("data-left");
const width = +flames.getAttribute("data-width");

const at = boxes.find(box => name(box) === process.argv[3]);
const [from, end] = range(at);
listeners.mouseover({ target: at.children[1] });
claim("the line tells what the pointer is on", info.textContent
	=== at.getElementsByTagName("title")[0].textContent.replace("\n", ": "));

listeners.click({ target: at.children[1] });
for (const box of boxes) {
	const [a, b] = range(box);
	const around = row(box) < row(at) && a <= from && b >= end;
	const within = row(box) >= row(at) && a >= from && b <= end;
	const shown = box.getAttribute("display") !== "none";

	claim(name(box) + " is seen when it belongs there",
		shown === (around || within));
	if (around)
		claim(name(box) + " fills the width",
			near(seat(box)[0], left) && near(seat(box)[1], width));
	if (!within)
		continue;
	claim(name(box) + " has its part of the width",
		near(seat(box)[1], (b - a) / (end - from) * width)
		&& near(seat(box)[0],
			left + (a - from) / (end - from) * width));
	if (seat(box)[1] > 24)
		claim(name(box) + " has a text",
			box.getElementsByTagName("text").some(t =>
				t.textContent === name(box) &&
				t.getAttribute("visibility") !== "hidden"));
}
claim("it has grown", seat(at)[1] > before[boxes.indexOf(at)][1]);

listeners.keydown({ key: "Escape", preventDefault() {} });
boxes.forEach((box, i) => claim(name(box) + " is back", seat(box).every(
	(v, k) => near(v, before[i][k]))
	&& box.getAttribute("display") !== "none"));
listeners.click({ target: at.children[1] });
listeners.click({ target: byId("reset") });
boxes.forEach((box, i) => claim(name(box) + " is back by reset",
	near(seat(box)[1], before[i][1])));

const hits = () => boxes.filter(box =>
	/\bhit\b/.test(box.getAttribute("class")));
for (const key of process.argv[3].toUpperCase())
	listeners.keydown({ key, preventDefault() {} });
claim("what is typed is found", hits().includes(at)
	&& hits().every(box => name(box).toLowerCase()
		.includes(process.argv[3].toLowerCase())));
console.log(info.textContent);
listeners.keydown({ key: "Backspace", preventDefault() {} });
listeners.keydown({ key: "f", ctrlKey: true });
claim("one letter less", byId("look").textContent
	=== "search: " + process.argv[3].toUpperCase().slice(0, -1));
listeners.keydown({ key: "Escape", preventDefault() {} });
claim("nothing is sought", hits().length === 0);
listeners.click({ target: byId("look") });
claim("what was asked for is found", hits().length > 0
	&& hits().every(box => /main/i.test(name(box))));
if (!failed)
	console.log("right");
