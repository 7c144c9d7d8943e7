// SPDX-License-Identifier: Apache-2.0
// What dh_view.html shows of a file, as text: a browser of which there is
// only what its script asks for.
//
//	node dh_view.js /usr/libexec/valgrind/dh_view.js FILE
"use strict";
const fs = require("fs");
const vm = require("vm");
const [script, file] = process.argv.slice(2);

class Element {
	constructor(text) {
		this.childNodes = [];
		this.own = text || "";
		this.className = "";
		this.selectedIndex = 0;
		this.classList = { contains: () => false, add() {}, remove() {} };
	}
	appendChild(child) {
		child.parentNode = this;
		this.childNodes.push(child);
		return child;
	}
	replaceChild(fresh, old) {
		this.childNodes[this.childNodes.indexOf(old)] = fresh;
		fresh.parentNode = this;
	}
	cloneNode() {
		const copy = new Element();
		copy.className = this.className;
		return copy;
	}
	set textContent(text) {
		this.childNodes = [];
		this.own = text;
	}
	get textContent() {
		return this.own + this.childNodes.map(c => c.textContent).join("");
	}
	isWrong() {
		return this.className === "error"
		    || this.childNodes.some(c => c.isWrong());
	}
	addEventListener() {}
	setAttribute() {}
}

const context = vm.createContext({
	document: {
		body: new Element(), title: "", location: { search: "" },
		createElement: () => new Element(),
		createTextNode: text => new Element(text),
	},
	performance, URLSearchParams, console,
	FileReader: class {
		readAsText(from) {
			const result = fs.readFileSync(from.name, "utf8");
			this.onload({ target: { result } });
		}
	},
});
vm.runInContext(fs.readFileSync(script, "utf8"), context);
context.file = { name: file };
vm.runInContext("onLoad(); gInput.files = [file]; loadFile();", context);
const shown = vm.runInContext("gMainDiv", context);
console.log(shown.textContent);
process.exit(shown.isWrong() ? 1 : 0);
