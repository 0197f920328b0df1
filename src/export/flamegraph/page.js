/*
 * page - handles what the user does, and stores it in the page's address.
 *
 * Zoom, search, threads, direction and theme are after the # of the address, so that it can be
 * shared, and the browser's Back undoes a zoom.
 */
const DEFAULTS = { zoom: 0, search: "", threads: "", view: "flame", of: -1, span: "", hide: "", theme: "", sort: "self" };
const VIEWS = ["flame", "icicle", "inverted", "sandwich"];
const state = { ...DEFAULTS };
const PATH_SHOWN = 40; /* steps */
const systemTheme = window.matchMedia("(prefers-color-scheme: dark)");
let legend = [];
let shownPart = null; /* the threads and span that base is summed for */
let shownTree = null; /* the tree that is drawn */

function numberOf(given, below) {
	const number = Number(given ?? -1);
	return Number.isInteger(number) && number >= 0 && number < below ? number : -1;
}

function readAddress() {
	let given;
	try {
		given = new URLSearchParams(window.location.hash.slice(1));
	} catch {
		given = new URLSearchParams();
	}
	state.view = VIEWS.includes(given.get("view")) ? given.get("view") : "flame";
	state.zoom = Math.max(0, numberOf(given.get("zoom"), 2 ** 31));
	state.of = numberOf(given.get("of"), functions.length);
	state.search = given.get("search") ?? "";
	state.threads = given.get("threads") ?? "";
	state.span = parseSpan(given.get("span") ?? "") ? given.get("span") : "";
	state.hide = parseHidden(given.get("hide") ?? "");
	state.theme = ["light", "dark"].includes(given.get("theme")) ? given.get("theme") : "";
	state.sort = given.get("sort") in sortings ? given.get("sort") : "self";
}

function writeAddress(isStep) {
	const kept = Object.entries(state).filter(([key, value]) => value !== DEFAULTS[key]);
	const hash = `#${new URLSearchParams(kept.map(([key, value]) => [key, String(value)]))}`;
	if (hash === (window.location.hash || "#"))
		return;
	try {
		window.history[isStep ? "pushState" : "replaceState"](null, "", hash);
	} catch {
		window.location.hash = hash;
	}
}

/* "t3" is thread 3, "p12" every thread of process 12, "" all threads. */
function threadFilter(value) {
	const id = Number(value.slice(1));
	if (value.startsWith("t") && threads.some((t) => t.id === id))
		return (t) => t.id === id;
	if (value.startsWith("p") && threads.some((t) => t.pid === id))
		return (t) => t.pid === id;
	return () => true;
}

/* The theme while printing, which is light; else empty. */
let paperTheme = "";

function printAs(theme) {
	paperTheme = theme;
	apply();
}

function applyTheme() {
	view.isDark = paperTheme !== "" ? false : state.theme ? state.theme === "dark" : systemTheme.matches;
	document.documentElement.dataset.theme = view.isDark ? "dark" : "light";
	element("theme").textContent = view.isDark ? "Light" : "Dark";
	showLegend(legend, search);
	showStateLegend(state.hide, hide);
}

function applyPart() {
	const part = `${state.threads} ${state.span} ${state.hide}`;
	const isState = stateFilter(state.hide);
	const isShown = withoutIdle(state.hide, threadFilter(state.threads));
	if (shownPart !== part) {
		shownPart = part;
		shownTree = null;
		showThreads(isShown, parseSpan(state.span), isState);
		if (hasTime())
			sumBars(isShown, isState);
	}
	element("thread").value = state.threads;
	if (element("thread").selectedIndex < 0)
		element("thread").value = "";
}

function applyTree() {
	if (state.view === "sandwich" && state.of < 0)
		state.of = hottestFunction();
	const wanted = state.view === "sandwich" ? `of ${state.of}` : state.view === "inverted" ? "inverted" : "calls";
	if (shownTree !== wanted) {
		shownTree = wanted;
		useTree(wanted === "calls" ? base : wanted === "inverted" ? invertedTree() : sandwichTree(state.of));
		view.selected = -1;
	}
	view.kind = state.view;
	view.zoom = state.zoom < nodeCount && state.view !== "sandwich" ? state.zoom : 0;
	state.zoom = view.zoom;
	view.hovered = -1;
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

/* The path from the root to the zoomed box; the middle of a very long one is left out. */
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

/* Updates the page to match the state. */
function apply() {
	applyPart();
	applyTree();
	applyTheme();
	applySearch();
	element("view").value = state.view;
	element("reset").disabled = view.zoom === 0;
	element("meaning").textContent = describeMeaning();
	element("time").hidden = !hasTime();
	if (hasTime())
		showSpan(parseSpan(state.span));
	showPath();
	showList(state.sort, search, center);
	showDetails(view.zoom);
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

/* The zoomed box may have no time left. */
function hide(hidden) {
	change({ hide: hidden, zoom: state.zoom }, false);
	if (base.totalOf[0] > 0 && totalOf[view.zoom] === 0)
		change({ zoom: 0 }, false);
}

function search(query) {
	change({ search: query }, false);
}

/* Node numbers belong to one tree: only flame and icicle share theirs. */
function chooseView(kind) {
	const isSame = [kind, state.view].every((name) => name === "flame" || name === "icicle");
	change({ view: kind, zoom: isSame ? state.zoom : 0, of: kind === "sandwich" ? functionInSight() : -1 }, true);
}

/* The function that is selected, hovered or zoomed, or -1. */
function functionInSight() {
	const node = [view.selected, view.hovered, view.zoom].find((n) => n > 0) ?? 0;
	return node === 0 ? state.of : functionOf[node];
}

function center(id) {
	change({ view: "sandwich", of: id, zoom: 0 }, true);
}

/* Handles a click on a box. */
function enter(node) {
	if (state.view === "sandwich")
		center(functionOf[node]);
	else
		zoomTo(node);
}

function flipTheme() {
	change({ theme: view.isDark ? "light" : "dark" }, false);
}

function hover(node) {
	canvas.style.cursor = node >= 0 ? "pointer" : "default";
	if (node !== view.hovered) {
		showDetails(node < 0 ? view.zoom : node);
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
	showDetails(node);
	element("status").textContent = [
		nameOf(node),
		...figuresOf(node).map((figure) => figure.join(" ")),
		originOf(functionAt(node)),
	].join(", ");
	redraw();
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
	canvas.addEventListener("mousemove", (e) => hover(nodeUnder(e)));
	canvas.addEventListener("mouseleave", () => hover(-1));
	canvas.addEventListener("click", (e) => {
		const node = nodeUnder(e);
		view.selected = -1;
		if (node >= 0)
			enter(node);
	});
	canvas.addEventListener("blur", () => {
		view.selected = -1;
		showDetails(view.zoom);
		redraw();
	});
	graph.addEventListener("scroll", redraw);
	element("search").addEventListener("input", (e) => search(e.target.value.trim()));
	element("thread").addEventListener("change", (e) => change({ threads: e.target.value, zoom: 0 }, false));
	element("view").addEventListener("change", (e) => chooseView(e.target.value));
	listenToStrip((span) => change({ span }, true));
	element("theme").addEventListener("click", flipTheme);
	element("reset").addEventListener("click", () => zoomTo(0));
	for (const button of document.querySelectorAll("th button"))
		button.addEventListener("click", () => change({ sort: button.dataset.sort }, false));
	document.addEventListener("keydown", press);
	window.addEventListener("resize", () => {
		layOut();
		if (hasTime())
			drawStrip(parseSpan(state.span));
	});
	window.addEventListener("beforeprint", () => printAs("light"));
	window.addEventListener("afterprint", () => printAs(""));
	window.addEventListener("popstate", applyAddress);
	window.addEventListener("hashchange", applyAddress);
	systemTheme.addEventListener("change", apply);
}

function applyAddress() {
	readAddress();
	apply();
}

useTree(base);
if (hasStates())
	sumStates();
showThreads(() => true, null, stateFilter(""));
wholeTime = base.totalOf[0];
legend = rankFamilies();
fillThreads();
showHead();
listen();
applyAddress();

/* For tests, which cannot see on a canvas where its boxes are. */
window.fathom = {
	boxOf, nodeAt, functionAt, view, work,
	normalColorOf: (node) => colors.normal[functionOf[node]],
	get nodeCount() {
		return nodeCount;
	},
};
