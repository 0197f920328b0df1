/*
 * draw - draws the visible boxes on a canvas of the size of the visible part.
 *
 * The canvas sticks to the top of its scrolling parent and is redrawn when that scrolls. Boxes
 * narrower than a third of a pixel are left out together with all above them, so the work
 * depends on the screen and not on the profile.
 */
const ROW_HEIGHT = 20; /* px */
const NARROWEST = 0.33; /* px */
const NARROWEST_LABEL = 22; /* px */
const ANCESTORS_SHOWN = 3; /* of the zoomed box; the path above the graph has all */
const FONT = '12px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';

const canvas = document.getElementById("canvas");
const graph = document.getElementById("graph");
const content = document.getElementById("content");
const context = canvas.getContext("2d");

/* What to draw. The rest of the page changes it and calls layOut(). */
const view = {
	kind: "flame", /* or icicle, inverted, sandwich */
	zoom: 0,
	isDark: false,
	isMatch: null, /* a flag per function */
	hovered: -1,
	selected: -1, /* with the keyboard */
};
/*
 * first: the outermost depth shown; deepest and above: the last depth below and above the root.
 */
const size = { width: 0, height: 0, first: 0, deepest: 0, above: 0 };
const labelWidths = new Map();
/* Statistics of the last drawing: boxes whose width was looked at, and boxes drawn. */
const work = { looked: 0, drawn: 0 };

function rowCount() {
	return size.above + size.deepest - size.first + 1;
}

function rowOf(node) {
	if (view.kind === "flame")
		return size.deepest - depthOf[node];
	return size.above + (sideOf[node] < 0 ? -depthOf[node] : depthOf[node]) - size.first;
}

function isAncestor(node, descendant) {
	return node <= descendant && descendant < endOf[node];
}

/*
 * Where a node is drawn, in px of the canvas; boxes outside of the zoomed one have full width.
 */
function boxOf(node) {
	const y = rowOf(node) * ROW_HEIGHT - graph.scrollTop;
	if (isAncestor(node, view.zoom))
		return { x: 0, y, width: size.width, height: ROW_HEIGHT };
	const scale = totalOf[view.zoom] > 0 ? size.width / totalOf[view.zoom] : 0;
	return {
		x: (leftOf[node] - leftOf[view.zoom]) * scale,
		y,
		width: totalOf[node] * scale,
		height: ROW_HEIGHT,
	};
}

function widthOf(label) {
	let width = labelWidths.get(label);
	if (width === undefined)
		labelWidths.set(label, (width = context.measureText(label).width));
	return width;
}

/* The longest of its labels that fits, else the beginning of the shortest. */
function fitLabel(node, room) {
	const { labels } = functionAt(node);
	const mark = isInlined[node] ? "↳ " : "";
	for (const label of labels)
		if (widthOf(mark + label) <= room)
			return mark + label;
	const last = labels[labels.length - 1].replace(/^…/, "");
	const kept = Math.floor((last.length * (room - widthOf(mark))) / widthOf(last)) - 1;
	return kept >= 2 ? `${mark}${last.slice(0, kept)}…` : "";
}

function isPale(node) {
	return view.isMatch ? !view.isMatch[functionOf[node]] || isEverything(node)
		: node !== view.zoom && isAncestor(node, view.zoom);
}

function isEverything(node) {
	return node === 0 && tree.root === everything;
}

function fillOf(node, paint) {
	if (isEverything(node))
		return paint.root;
	const id = functionOf[node];
	if (view.isMatch && view.isMatch[id])
		return paint.match;
	return isPale(node) ? colors.dimmed[id] : colors.normal[id];
}

function drawHatch(box) {
	context.save();
	context.beginPath();
	context.rect(box.x, box.y, Math.min(box.width, 6), box.height - 1);
	context.clip();
	context.lineWidth = 1;
	context.strokeStyle = view.isDark ? "rgb(255 255 255 / 45%)" : "rgb(0 0 0 / 35%)";
	context.beginPath();
	for (let at = -ROW_HEIGHT; at < ROW_HEIGHT; at += 4) {
		context.moveTo(box.x, box.y + at + 6);
		context.lineTo(box.x + 6, box.y + at);
	}
	context.stroke();
	context.restore();
}

function drawBox(node, box, paint) {
	const gap = box.width > 3 ? 1 : 0;
	const isMatch = !isEverything(node) && view.isMatch && view.isMatch[functionOf[node]];
	context.fillStyle = fillOf(node, paint);
	context.fillRect(box.x, box.y, Math.max(box.width - gap, 0.5), box.height - 1);
	if (hasStates() && tree === base && box.width >= 2 && totalOf[node] > 0)
		drawStateEdge(node, box);
	if (isInlined[node] && box.width > 8)
		drawHatch(box);
	if (node === view.selected || node === view.hovered) {
		context.lineWidth = node === view.selected ? 2 : 1;
		context.strokeStyle = paint.edge;
		context.strokeRect(box.x + 1, box.y + 1, Math.max(box.width - gap - 2, 1), box.height - 3);
	}
	if (box.width < NARROWEST_LABEL)
		return;
	const indent = isInlined[node] ? 9 : 5;
	const label = fitLabel(node, box.width - indent - 5);
	context.fillStyle = isMatch ? paint.matchText : isPale(node) ? paint.quiet : paint.text;
	context.fillText(label, box.x + indent, box.y + box.height / 2 - (hasStates() && tree === base ? 1 : 0));
}

function isVisibleRow(box) {
	return box.y + box.height > 0 && box.y < size.height;
}

function draw() {
	const scale = window.devicePixelRatio || 1;
	const paint = palette();
	work.looked = work.drawn = 0;
	prepareColors();
	context.setTransform(scale, 0, 0, scale, 0, 0);
	context.fillStyle = paint.page;
	context.fillRect(0, 0, size.width, size.height);
	context.font = FONT;
	context.textBaseline = "middle";
	for (let node = view.zoom; node !== 0 && depthOf[node] > size.first; node = parentOf[node])
		drawIfVisible(parentOf[node], paint);
	for (let node = view.zoom; node < endOf[view.zoom]; ) {
		const isWide = drawIfVisible(node, paint);
		node = isWide ? node + 1 : endOf[node];
	}
	if (graph.scrollTop > 0)
		drawEdge(0, ROW_HEIGHT);
	if (graph.scrollTop + size.height < rowCount() * ROW_HEIGHT)
		drawEdge(size.height, size.height - ROW_HEIGHT);
}

/* Fades out an edge beyond which there is more to scroll to. */
function drawEdge(y, toY) {
	const fade = context.createLinearGradient(0, y, 0, toY);
	const page = palette().page;
	fade.addColorStop(0, page);
	fade.addColorStop(1, `${page}00`);
	context.fillStyle = fade;
	context.fillRect(0, Math.min(y, toY), size.width, Math.abs(toY - y));
}

/* Draws the node; returns whether it is wide enough to look at its callees. */
function drawIfVisible(node, paint) {
	const box = boxOf(node);
	work.looked++;
	if (node !== view.zoom && box.width < NARROWEST)
		return false;
	if (isVisibleRow(box)) {
		work.drawn++;
		drawBox(node, box, paint);
	}
	return true;
}

let isDrawPending = false;

function redraw() {
	if (isDrawPending)
		return;
	isDrawPending = true;
	requestAnimationFrame(() => {
		isDrawPending = false;
		draw();
	});
}

/* The height of the graph in the window. */
function heightOf(wanted) {
	const room = Math.max(200, Math.min(window.innerHeight - graph.offsetTop - 190, window.innerHeight * 0.7));
	return Math.min(wanted, Math.floor(room / ROW_HEIGHT) * ROW_HEIGHT);
}

/*
 * Scrolls the zoomed box to the edge from which the graph grows; in a sandwich, to the middle.
 */
function firstScroll(wanted) {
	if (view.kind === "flame")
		return wanted;
	return view.kind === "sandwich" ? (size.above + 0.5) * ROW_HEIGHT - size.height / 2 : 0;
}

/* Fits the canvas to the window, and the graph's height to the depth shown. */
function layOut() {
	const scale = window.devicePixelRatio || 1;
	const isSandwich = view.kind === "sandwich";
	size.first = Math.max(0, depthOf[view.zoom] - ANCESTORS_SHOWN);
	size.above = isSandwich ? deepestBelow(0, -1) : 0;
	size.deepest = deepestBelow(view.zoom, isSandwich ? 1 : 0);
	const wanted = rowCount() * ROW_HEIGHT;
	size.height = heightOf(wanted);
	graph.style.height = `${size.height}px`;
	content.style.height = `${wanted}px`;
	size.width = content.clientWidth;
	canvas.width = Math.round(size.width * scale);
	canvas.height = Math.round(size.height * scale);
	canvas.style.width = `${size.width}px`;
	canvas.style.height = `${size.height}px`;
	graph.scrollTop = firstScroll(wanted);
	draw();
}

/* The depth and the side of a row, both relative to the root. */
function levelAt(row) {
	if (view.kind === "flame")
		return { depth: size.deepest - row, side: 0 };
	const depth = row - size.above + size.first;
	return { depth: Math.abs(depth), side: view.kind === "sandwich" ? Math.sign(depth) : 0 };
}

/* The node under a point of the canvas, or -1. */
function nodeAt(x, y) {
	const row = Math.floor((y + graph.scrollTop) / ROW_HEIGHT);
	const { depth, side } = levelAt(row);
	if (row < 0 || row >= rowCount() || x < 0 || x >= size.width)
		return -1;
	let node = view.zoom;
	if (depth <= depthOf[node]) {
		while (depthOf[node] > depth)
			node = parentOf[node];
		return node;
	}
	const at = leftOf[view.zoom] + (x / size.width) * totalOf[view.zoom];
	for (let i = node + 1; i < endOf[view.zoom]; ) {
		const isOver = sideOf[i] === side && leftOf[i] <= at && at < leftOf[i] + totalOf[i];
		if (isOver && depthOf[i] === depth)
			return i;
		i = isOver ? i + 1 : endOf[i];
	}
	return -1;
}

function scrollIntoView(node) {
	const top = rowOf(node) * ROW_HEIGHT;
	if (top < graph.scrollTop)
		graph.scrollTop = top;
	else if (top + ROW_HEIGHT > graph.scrollTop + size.height)
		graph.scrollTop = top + ROW_HEIGHT - size.height;
}
