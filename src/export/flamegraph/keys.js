/* keys - controls the page with keys: arrows move between boxes, letters choose views. */
/* The nearest sibling in a direction that is wide enough to be seen, or the node itself. */
function siblingOf(node, step) {
	const siblings = [];
	const parent = parentOf[node];
	for (let i = parent + 1; node !== 0 && i < endOf[parent]; i = endOf[i])
		if (totalOf[i] > 0 && sideOf[i] === sideOf[node])
			siblings.push(i);
	return siblings[siblings.indexOf(node) + step] ?? node;
}

function firstBelow(node, side) {
	for (let i = node + 1; i < endOf[node]; i = endOf[i])
		if (totalOf[i] > 0 && sideOf[i] === side)
			return i;
	return node;
}

function moveSelection(key) {
	const node = view.selected < 0 ? view.zoom : view.selected;
	const isFlame = view.kind === "flame";
	const side = view.kind !== "sandwich" ? 0 : sideOf[node] || (key === "ArrowUp" ? -1 : 1);
	const outward = isFlame || side < 0 ? "ArrowDown" : "ArrowUp";
	if (view.selected < 0)
		select(node);
	else if (key === "ArrowLeft" || key === "ArrowRight")
		select(siblingOf(node, key === "ArrowLeft" ? -1 : 1));
	else
		select(key === outward ? parentOf[node] : firstBelow(node, side));
}

/* Handles keys of the graph. Returns whether the key was one. */
function pressInGraph(key) {
	if (key.startsWith("Arrow"))
		moveSelection(key);
	else if ((key === "Enter" || key === " ") && view.selected >= 0)
		enter(view.selected);
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
		chooseView(state.view === "flame" ? "icicle" : "flame");
	else if (key === "v")
		chooseView(VIEWS[(VIEWS.indexOf(state.view) + 1) % VIEWS.length]);
	else if (key === "s")
		chooseView("sandwich");
	else if (key === "w" && hasStates())
		hide(state.hide === "" ? allWaits() : "");
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
	const isTyping = ["INPUT", "SELECT"].includes(event.target.tagName) && event.target.type !== "checkbox";
	if (event.key === "Escape")
		pressEscape();
	else if (isTyping)
		return;
	else if (!(event.target === canvas && pressInGraph(event.key)) && !pressAnywhere(event.key))
		return;
	event.preventDefault();
}
