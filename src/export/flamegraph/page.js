/*
 * page - what the user does, and the address that remembers it.
 *
 * Zoom, search, threads, direction and theme stand behind the # of the address, so
 * it can be passed on, and the browser's Back undoes a zoom.
 */
const state = { zoom: 0, search: "", threads: "", view: "flame", theme: "", sort: "self" };
const PATH_SHOWN = 40; /* steps */
const systemTheme = window.matchMedia("(prefers-color-scheme: dark)");
let legend = [];
let shownThreads = null;

function readAddress() {
	let given;
	try {
		given = new URLSearchParams(window.location.hash.slice(1));
	} catch {
		given = new URLSearchParams();
	}
	const zoom = Number(given.get("zoom") ?? 0);
	state.zoom = Number.isInteger(zoom) && zoom > 0 && zoom < nodeCount ? zoom : 0;
	state.search = given.get("search") ?? "";
	state.threads = given.get("threads") ?? "";
	state.view = given.get("view") === "icicle" ? "icicle" : "flame";
	state.theme = ["light", "dark"].includes(given.get("theme")) ? given.get("theme") : "";
	state.sort = given.get("sort") in sortings ? given.get("sort") : "self";
}

function writeAddress(isStep) {
	const defaults = { zoom: 0, search: "", threads: "", view: "flame", theme: "", sort: "self" };
	const kept = Object.entries(state).filter(([key, value]) => value !== defaults[key]);
	const hash = `#${new URLSearchParams(kept.map(([key, value]) => [key, String(value)]))}`;
	if (hash === (window.location.hash || "#"))
		return;
	try {
		window.history[isStep ? "pushState" : "replaceState"](null, "", hash);
	} catch {
		window.location.hash = hash;
	}
}

/* "t3" is thread 3, "p12" every thread of process 12, "" all of them. */
function threadFilter(value) {
	const id = Number(value.slice(1));
	if (value.startsWith("t") && threads.some((t) => t.id === id))
		return (t) => t.id === id;
	if (value.startsWith("p") && threads.some((t) => t.pid === id))
		return (t) => t.pid === id;
	return () => true;
}

function applyTheme() {
	view.isDark = state.theme ? state.theme === "dark" : systemTheme.matches;
	document.documentElement.dataset.theme = view.isDark ? "dark" : "light";
	element("theme").textContent = view.isDark ? "Light" : "Dark";
	showLegend(legend, search);
}

function applyThreads() {
	if (shownThreads === state.threads)
		return;
	shownThreads = state.threads;
	showThreads(threadFilter(state.threads));
	element("thread").value = state.threads;
	if (element("thread").selectedIndex < 0)
		element("thread").value = "";
}

function applySearch() {
	view.isMatch = findFunctions(state.search);
	if (element("search").value !== state.search)
		element("search").value = state.search;
	if (!view.isMatch) {
		element("matched").textContent = "";
		return;
	}
	const found = sumMatches(view.zoom, view.isMatch);
	const whole = totalOf[view.zoom];
	element("matched").textContent = found === 0
		? "nothing matches"
		: `${formatShare(found, whole)}${view.zoom === 0 ? "" : " of the zoomed box"} matched`;
}

/* From everything to the zoomed box; of a very long way only the ends. */
function zoomPath() {
	const nodes = [view.zoom];
	while (nodes[nodes.length - 1] !== 0)
		nodes.push(parentOf[nodes[nodes.length - 1]]);
	nodes.reverse();
	return nodes.length <= PATH_SHOWN ? nodes : [...nodes.slice(0, 4), null, ...nodes.slice(5 - PATH_SHOWN)];
}

function showPath() {
	const parts = zoomPath().flatMap((node, i) => {
		if (node === null)
			return [make("span", "", "› …")];
		const button = make("button", "", functionAt(node).short);
		button.type = "button";
		button.addEventListener("click", () => zoomTo(node));
		if (node === view.zoom)
			button.setAttribute("aria-current", "true");
		return i === 0 ? [button] : [make("span", "", "›"), button];
	});
	element("path").replaceChildren(...parts);
	element("path").scrollLeft = element("path").scrollWidth;
}

/* Makes the page what the state says. */
function apply() {
	view.zoom = state.zoom;
	view.isIcicle = state.view === "icicle";
	view.hovered = -1;
	applyThreads();
	applyTheme();
	applySearch();
	hideTooltip();
	element("view").textContent = view.isIcicle ? "Flame" : "Icicle";
	element("reset").disabled = view.zoom === 0;
	element("meaning").textContent = describeMeaning();
	showPath();
	showList(state.sort, search);
	layOut();
}

function change(changes, isStep) {
	Object.assign(state, changes);
	writeAddress(isStep);
	apply();
}

function zoomTo(node) {
	if (node !== state.zoom)
		change({ zoom: node }, true);
}

function search(query) {
	change({ search: query }, false);
}

function flipView() {
	change({ view: state.view === "icicle" ? "flame" : "icicle" }, false);
}

function flipTheme() {
	change({ theme: view.isDark ? "light" : "dark" }, false);
}

function hover(node, x, y) {
	canvas.style.cursor = node >= 0 ? "pointer" : "default";
	if (node < 0)
		hideTooltip();
	else
		showTooltip(node, x, y);
	if (node !== view.hovered) {
		view.hovered = node;
		redraw();
	}
}

function nodeUnder(event) {
	const box = canvas.getBoundingClientRect();
	return nodeAt(event.clientX - box.left, event.clientY - box.top);
}

function select(node) {
	view.selected = node;
	scrollIntoView(node);
	const box = boxOf(node);
	const at = canvas.getBoundingClientRect();
	showTooltip(node, at.left + Math.max(0, box.x), at.top + box.y + box.height / 2);
	element("status").textContent = [
		...describeNode(node).map((line) => line[1]),
		...figuresOf(node).map((figure) => figure.join(" ")),
	].join(", ");
	redraw();
}

/* The nearest sibling on a side that is wide enough to be seen, or the node itself. */
function siblingOf(node, step) {
	const siblings = [];
	const parent = parentOf[node];
	for (let i = parent + 1; node !== 0 && i < endOf[parent]; i = endOf[i])
		if (totalOf[i] > 0)
			siblings.push(i);
	return siblings[siblings.indexOf(node) + step] ?? node;
}

function firstCallee(node) {
	for (let i = node + 1; i < endOf[node]; i = endOf[i])
		if (totalOf[i] > 0)
			return i;
	return node;
}

function moveSelection(key) {
	const node = view.selected < 0 ? view.zoom : view.selected;
	const outward = view.isIcicle ? "ArrowUp" : "ArrowDown";
	if (view.selected < 0)
		select(node);
	else if (key === "ArrowLeft" || key === "ArrowRight")
		select(siblingOf(node, key === "ArrowLeft" ? -1 : 1));
	else
		select(key === outward ? parentOf[node] : firstCallee(node));
}

/* Keys of the graph.  Returns whether the key was one. */
function pressInGraph(key) {
	if (key.startsWith("Arrow"))
		moveSelection(key);
	else if ((key === "Enter" || key === " ") && view.selected >= 0)
		zoomTo(view.selected);
	else if (key === "Backspace")
		zoomTo(parentOf[view.zoom]);
	else
		return false;
	return true;
}

function pressAnywhere(key) {
	if (key === "/")
		element("search").focus();
	else if (key === "0")
		zoomTo(0);
	else if (key === "i")
		flipView();
	else if (key === "t")
		flipTheme();
	else
		return false;
	return true;
}

function pressEscape() {
	if (state.search !== "")
		search("");
	else
		zoomTo(0);
	view.selected = -1;
	redraw();
}

function press(event) {
	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	const isTyping = ["INPUT", "SELECT"].includes(event.target.tagName);
	if (event.key === "Escape")
		pressEscape();
	else if (isTyping)
		return;
	else if (!(event.target === canvas && pressInGraph(event.key)) && !pressAnywhere(event.key))
		return;
	event.preventDefault();
}

function fillThreads() {
	const shown = threads.filter((t) => t.ns > 0).sort((a, b) => b.ns - a.ns);
	const pids = [...new Set(shown.map((t) => t.pid))];
	const select = element("thread");
	const option = (label, value) => {
		const made = make("option", "", label);
		made.value = value;
		return made;
	};
	const labelled = (t) => option(`${t.label} · ${formatShare(t.ns, totalOf[0])}`, `t${t.id}`);
	select.append(option(`all ${shown.length}, merged`, ""));
	for (const pid of pids) {
		const mine = shown.filter((t) => t.pid === pid);
		if (pids.length === 1) {
			select.append(...mine.map(labelled));
			continue;
		}
		const group = make("optgroup");
		group.label = pid === 0 ? "no process" : `${mine[0].process} (${pid})`;
		if (mine.length > 1)
			group.append(option(`all ${mine.length} of ${mine[0].process} (${pid})`, `p${pid}`));
		group.append(...mine.map(labelled));
		select.append(group);
	}
	element("thread-label").hidden = shown.length < 2;
}

function listen() {
	canvas.addEventListener("mousemove", (e) => hover(nodeUnder(e), e.clientX, e.clientY));
	canvas.addEventListener("mouseleave", () => hover(-1));
	canvas.addEventListener("click", (e) => {
		const node = nodeUnder(e);
		view.selected = -1;
		if (node >= 0)
			zoomTo(node);
	});
	canvas.addEventListener("blur", () => {
		view.selected = -1;
		hideTooltip();
		redraw();
	});
	graph.addEventListener("scroll", () => {
		hideTooltip();
		redraw();
	});
	element("search").addEventListener("input", (e) => search(e.target.value.trim()));
	element("thread").addEventListener("change", (e) => change({ threads: e.target.value, zoom: 0 }, false));
	element("view").addEventListener("click", flipView);
	element("theme").addEventListener("click", flipTheme);
	element("reset").addEventListener("click", () => zoomTo(0));
	for (const button of document.querySelectorAll("th button"))
		button.addEventListener("click", () => change({ sort: button.dataset.sort }, false));
	document.addEventListener("keydown", press);
	window.addEventListener("resize", layOut);
	window.addEventListener("popstate", applyAddress);
	window.addEventListener("hashchange", applyAddress);
	systemTheme.addEventListener("change", apply);
}

function applyAddress() {
	readAddress();
	apply();
}

showThreads(() => true);
legend = legendEntries(rankModules());
fillThreads();
showHead();
listen();
applyAddress();

/* For tests: the canvas does not tell where its boxes are. */
window.fathom = { boxOf, nodeAt, functionAt, view, nodeCount };
