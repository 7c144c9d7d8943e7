// SPDX-License-Identifier: Apache-2.0
// What makes the flame graph of heaphook-report --format=svg move: it lies
// in the file, and needs nothing but it.
(function () {
	"use strict";
	var page = document.documentElement;
	var flames = document.getElementById("flames");
	var info = document.getElementById("info");
	var look = document.getElementById("look");
	var hint = "click: zoom, type: search, Escape: all again";
	var left = +flames.getAttribute("data-left");
	var width = +flames.getAttribute("data-width");
	var narrow = +flames.getAttribute("data-narrow");
	var total = +flames.getAttribute("data-total");
	var sought = "";
	var boxes = Array.prototype.map.call(
		flames.getElementsByClassName("box"), function (node) {
			var title = node.getElementsByTagName("title")[0];
			return {
				node: node,
				title: title.textContent,
				name: title.textContent.split("\n")[0],
				from: +node.getAttribute("data-from"),
				value: +node.getAttribute("data-value"),
				row: +node.getAttribute("data-row"),
				text: node.getElementsByTagName("text")[0]
			};
		});

	// Text that a narrow box had no place for is made when it has.
	function label(box, shown) {
		if (shown && !box.text) {
			box.text = document.createElementNS(
				page.namespaceURI, "text");
			box.text.setAttribute("x", "3");
			box.text.setAttribute("y", "13");
			box.text.textContent = box.name;
			box.node.appendChild(box.text);
		}
		if (box.text)
			box.text.setAttribute("visibility",
				shown ? "inherit" : "hidden");
	}

	// Box, as it is when the box AT is as wide as the page.
	function place(box, at) {
		var end = box.from + box.value, atEnd = at.from + at.value;
		var within = box.from >= at.from && end <= atEnd;
		var around = box.from <= at.from && end >= atEnd;
		var x = (box.from - at.from) / at.value * width;
		var w = box.value / at.value * width;

		if (box.row < at.row && around)
			return { x: left, width: width, dim: true };
		if (box.row < at.row || !within || w < 0.1)
			return null;
		return { x: left + x, width: w, dim: false };
	}

	function zoom(at) {
		if (!at)
			return;
		boxes.forEach(function (box) {
			var to = place(box, at);
			box.node.setAttribute("display", to ? "inline" : "none");
			if (!to)
				return;
			box.node.setAttribute("x", to.x.toFixed(2));
			box.node.setAttribute("width", to.width.toFixed(2));
			box.node.setAttribute("opacity", to.dim ? "0.6" : "1");
			label(box, to.width >= narrow);
		});
	}

	// A box within one that was found has been counted.
	function search(text) {
		var found = 0, end = 0;
		var low = text.toLowerCase();

		sought = text;
		boxes.forEach(function (box) {
			var hit = text && box.row
				&& box.name.toLowerCase().indexOf(low) >= 0;
			box.node.setAttribute("class", hit ? "box hit" : "box");
			if (hit && box.from >= end) {
				found += box.value;
				end = box.from + box.value;
			}
		});
		look.textContent = "search: " + text;
		info.textContent = !text ? hint : "“" + text + "”: "
			+ found.toLocaleString("en-US")
			+ (flames.getAttribute("data-unit") || "") + ", "
			+ (found / total * 100).toFixed(1) + " %";
	}

	// The innermost thing with a title that NODE is in.
	function titled(node) {
		for (; node && node !== page; node = node.parentNode)
			if (/\b(box|point|mark)\b/.test(
				node.getAttribute("class") || ""))
				return node;
		return null;
	}

	page.addEventListener("mouseover", function (event) {
		var node = titled(event.target);

		if (node)
			info.textContent = node.getElementsByTagName("title")[0]
				.textContent.replace("\n", ": ");
	});
	page.addEventListener("click", function (event) {
		var node = titled(event.target), text;

		if (event.target === look) {
			text = window.prompt("functions with", sought);
			search(text || "");
		}
		boxes.forEach(function (box) {
			if (box.node === node)
				zoom(box);
		});
		if (event.target === document.getElementById("reset")) {
			zoom(boxes[0]);
			search("");
		}
	});
	window.addEventListener("keydown", function (event) {
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === "Escape") {
			zoom(boxes[0]);
			search("");
		} else if (event.key === "Backspace") {
			search(sought.slice(0, -1));
		} else if (event.key.length === 1) {
			search(sought + event.key);
		} else {
			return;
		}
		event.preventDefault();
	});
	if (boxes.length)
		search("");
}());
