/*
 * draw - the boxes on a canvas that is as large as what can be seen of them.
 *
 * The canvas sticks to the top of its scrolling parent and is drawn anew when that
 * scrolls.  Boxes narrower than a third of a pixel are left out together with all
 * that is above them, so the work depends on the screen and not on the profile.
 */
const ROW_HEIGHT = 20; /* px */
const NARROWEST = 0.33; /* px */
const NARROWEST_LABEL = 22; /* px */
const FONT = '12px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';

const canvas = document.getElementById("canvas");
const graph = document.getElementById("graph");
const content = document.getElementById("content");
const context = canvas.getContext("2d");

/* What is to be drawn.  The rest of the page changes it and calls layOut(). */
const view = {
	zoom: 0,
	isIcicle: false,
	isDark: false,
	isMatch: null, /* a flag per function */
	hovered: -1,
	selected: -1, /* by the keyboard */
};
const size = { width: 0, height: 0, deepest: 0 };

/*
 * Colours are chosen in OKLCH, where equal lightness looks equally light in every
 * hue, so one colour of text is readable on all of them.
 * Source: https://bottosson.github.io/posts/oklab/
 */
const MODULE_HUES = [62, 150, 300, 105, 200, 335, 128, 225, 84, 275, 178, 318];
const LANGUAGE_HUES = { python: 250, ruby: 14, kernel: 30 };
const CHROMA_SHARE = { python: 1, ruby: 1, kernel: 0.35, fathom: 0 };
const moduleHue = new Map();

function rankModules() {
	const time = new Map();
	const { self } = sumFunctions(0);
	functions.forEach((f, id) => {
		if (f.language === "native")
			time.set(f.module, (time.get(f.module) ?? 0) + self[id]);
	});
	const ranked = [...time].sort((a, b) => b[1] - a[1]);
	ranked.forEach(([module], rank) => {
		moduleHue.set(module, MODULE_HUES[rank % MODULE_HUES.length]);
	});
	return ranked;
}

/* From -1 to 1, always the same for a name: neighbours of one module differ a little. */
function shadeOf(name) {
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0;
	return ((hash >>> 8) % 1000) / 500 - 1;
}

function rgbOfOklch(lightness, chroma, hue) {
	const a = chroma * Math.cos((hue * Math.PI) / 180);
	const b = chroma * Math.sin((hue * Math.PI) / 180);
	const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
	const channels = [
		4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
		-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
		-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
	].map((linear) => {
		const x = Math.min(1, Math.max(0, linear));
		return Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
	});
	return `rgb(${channels.join(",")})`;
}

function colorOf(f, shade, isDimmed) {
	const hue = f.language === "native" ? moduleHue.get(f.module) ?? 0 : LANGUAGE_HUES[f.language] ?? 0;
	const chroma = (view.isDark ? 0.075 : 0.085) * (CHROMA_SHARE[f.language] ?? 1);
	if (isDimmed)
		return rgbOfOklch((view.isDark ? 0.31 : 0.945) + shade * 0.008, chroma * 0.25, hue);
	return rgbOfOklch((view.isDark ? 0.45 : 0.855) + shade * (view.isDark ? 0.03 : 0.025), chroma, hue);
}

const colors = { normal: [], dimmed: [], key: null };
const labelWidths = new Float32Array(functions.length);

function prepareColors() {
	if (colors.key === view.isDark)
		return;
	colors.key = view.isDark;
	colors.normal = functions.map((f) => colorOf(f, shadeOf(f.name), false));
	colors.dimmed = functions.map((f) => colorOf(f, shadeOf(f.name), true));
}

function palette() {
	return view.isDark
		? { text: "#f3f3f1", quiet: "#9b9da0", root: "#4a4d52", page: "#17181a",
		    match: "#e58ae5", matchText: "#1a0a1a", edge: "#ffffff" }
		: { text: "#1c1b1a", quiet: "#77756f", root: "#dddcd8", page: "#ffffff",
		    match: "#9c2a9c", matchText: "#ffffff", edge: "#000000" };
}

function rowOf(node) {
	return view.isIcicle ? depthOf[node] : size.deepest - depthOf[node];
}

function isAncestor(node, descendant) {
	return node <= descendant && descendant < endOf[node];
}

/* Where a node is drawn, in px of the canvas; what lies above the zoomed one is full width. */
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

/* The end of the label is cut off; fillText() squeezes what the estimate left too wide. */
function fitLabel(node, room) {
	const f = functionAt(node);
	const label = isInlined[node] ? `↳ ${f.short}` : f.short;
	const id = functionOf[node];
	if (node === 0)
		return label;
	if (labelWidths[id] === 0)
		labelWidths[id] = Math.max(1, context.measureText(f.short).width);
	const width = labelWidths[id] * (label.length / f.short.length);
	if (width <= room)
		return label;
	const kept = Math.floor((label.length * room) / width) - 1;
	return kept >= 2 ? `${label.slice(0, kept)}…` : "";
}

function fillOf(node, paint) {
	if (node === 0)
		return paint.root;
	const id = functionOf[node];
	if (view.isMatch && view.isMatch[id])
		return paint.match;
	const isPale = view.isMatch || (node !== view.zoom && isAncestor(node, view.zoom));
	return isPale ? colors.dimmed[id] : colors.normal[id];
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
	const isMatch = node !== 0 && view.isMatch && view.isMatch[functionOf[node]];
	context.fillStyle = fillOf(node, paint);
	context.fillRect(box.x, box.y, Math.max(box.width - gap, 0.5), box.height - 1);
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
	context.fillStyle = isMatch ? paint.matchText
		: view.isMatch || (node !== view.zoom && isAncestor(node, view.zoom)) ? paint.quiet : paint.text;
	context.fillText(label, box.x + indent, box.y + box.height / 2, box.width - indent - 2);
}

function isVisibleRow(box) {
	return box.y + box.height > 0 && box.y < size.height;
}

function draw() {
	const scale = window.devicePixelRatio || 1;
	const paint = palette();
	prepareColors();
	context.setTransform(scale, 0, 0, scale, 0, 0);
	context.fillStyle = paint.page;
	context.fillRect(0, 0, size.width, size.height);
	context.font = FONT;
	context.textBaseline = "middle";
	for (let node = view.zoom; node !== 0; node = parentOf[node])
		drawIfVisible(parentOf[node], paint);
	for (let node = view.zoom; node < endOf[view.zoom]; ) {
		const isWide = drawIfVisible(node, paint);
		node = isWide ? node + 1 : endOf[node];
	}
	if (graph.scrollTop > 0)
		drawEdge(0, ROW_HEIGHT);
	if (graph.scrollTop + size.height < (size.deepest + 1) * ROW_HEIGHT)
		drawEdge(size.height, size.height - ROW_HEIGHT);
}

/* Fades out the edge behind which there is more to scroll to. */
function drawEdge(y, toY) {
	const fade = context.createLinearGradient(0, y, 0, toY);
	const page = palette().page;
	fade.addColorStop(0, page);
	fade.addColorStop(1, `${page}00`);
	context.fillStyle = fade;
	context.fillRect(0, Math.min(y, toY), size.width, Math.abs(toY - y));
}

/* Whether the node is wide enough for its callees to be looked at. */
function drawIfVisible(node, paint) {
	const box = boxOf(node);
	if (node !== view.zoom && box.width < NARROWEST)
		return false;
	if (isVisibleRow(box))
		drawBox(node, box, paint);
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

/* Fits the canvas to the window, and the graph's share of it to the depth of what is shown. */
function layOut() {
	const scale = window.devicePixelRatio || 1;
	size.deepest = deepestBelow(view.zoom);
	const wanted = (size.deepest + 1) * ROW_HEIGHT;
	const room = Math.max(160, Math.min(window.innerHeight - graph.offsetTop - 300, window.innerHeight * 0.7));
	size.height = Math.min(wanted, Math.floor(room / ROW_HEIGHT) * ROW_HEIGHT);
	graph.style.height = `${size.height}px`;
	content.style.height = `${wanted}px`;
	size.width = content.clientWidth;
	canvas.width = Math.round(size.width * scale);
	canvas.height = Math.round(size.height * scale);
	canvas.style.width = `${size.width}px`;
	canvas.style.height = `${size.height}px`;
	graph.scrollTop = view.isIcicle ? 0 : wanted;
	draw();
}

/* The node under a point of the canvas, or -1. */
function nodeAt(x, y) {
	const row = Math.floor((y + graph.scrollTop) / ROW_HEIGHT);
	const depth = view.isIcicle ? row : size.deepest - row;
	if (depth < 0 || depth > size.deepest || x < 0 || x >= size.width)
		return -1;
	let node = view.zoom;
	if (depth <= depthOf[node]) {
		while (depthOf[node] > depth)
			node = parentOf[node];
		return node;
	}
	const at = leftOf[view.zoom] + (x / size.width) * totalOf[view.zoom];
	for (let i = node + 1; i < endOf[view.zoom]; ) {
		const isOver = leftOf[i] <= at && at < leftOf[i] + totalOf[i];
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
