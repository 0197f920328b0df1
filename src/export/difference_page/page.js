/*
 * page - makes a difference image interactive: a click or Enter zooms, Backspace goes to the
 * caller, 0 or Escape shows the whole, t switches the widths to the other side, / searches. The
 * image is as wide as the window.
 */
const MARGIN = 10; /* px in the image, as picture.c draws it */
const INDENT = 4;
const COLUMN = 6.6; /* width of a character */
const SPARE = 8; /* columns: a label with more unused space is made again */
const NARROWEST = 320;
const SVG = "http://www.w3.org/2000/svg";
const sides = ["after", "before"].map((id) => document.getElementById(id));
const [turn, reset, search, found, details] =
	["turn", "reset", "search", "found", "details"].map((id) => document.getElementById(id));
/* Widths as drawn in the image; shown sizes are these times scale. */
const boxWidth = (side) => boxesOf.get(side)[0].width;
let scale = 1;

function boxOf(group) {
	const rect = group.querySelector("rect");
	const number = (name) => Number(rect.getAttribute(name));
	const text = group.querySelector("text");

	return {
		group, rect, text, label: text ? text.textContent : "",
		x: number("x"), y: number("y"), width: number("width"),
		name: group.querySelector("title").textContent.split("\n")[0],
	};
}

const boxesOf = new Map(sides.map((side) => [side, [...side.querySelectorAll("g")].map(boxOf)]));
const zoomed = new Map(sides.map((side) => [side, null]));

function shownSide() {
	return sides.find((side) => !side.hidden);
}

function setLabel(box, x, width) {
	const columns = Math.floor((width - 2 * INDENT) / COLUMN);

	if (!box.text) {
		box.text = document.createElementNS(SVG, "text");
		box.text.setAttribute("y", box.y + 12.5);
		box.group.append(box.text);
	}
	box.text.setAttribute("x", x + INDENT);
	if (columns < 3)
		box.text.textContent = "";
	else if (box.name.length <= columns)
		box.text.textContent = box.name;
	else if (box.label.length <= columns && box.label.length + SPARE > columns)
		box.text.textContent = box.label;
	else
		box.text.textContent = box.name.slice(0, columns - 1) + "…";
}

function place(box, x, width, isCaller) {
	box.group.style.display = "";
	box.group.classList.toggle("caller", isCaller);
	box.rect.setAttribute("x", x);
	box.rect.setAttribute("width", Math.max(width, 0));
	setLabel(box, x, width);
}

/* Neighbours are a pixel apart: a callee ends where its caller does, within that pixel. */
function isWithin(box, outer) {
	return box.x >= outer.x - 0.01 && box.x + box.width <= outer.x + outer.width + 1.01;
}

function zoomTo(side, target) {
	const boxes = boxesOf.get(side);
	const whole = boxes[0];
	const width = boxWidth(side) * scale;

	zoomed.set(side, target && target !== whole ? target : null);
	reset.disabled = !zoomed.get(side);
	for (const box of boxes) {
		if (!zoomed.get(side))
			place(box, MARGIN + (box.x - MARGIN) * scale, box.width * scale, false);
		else if (box.y >= target.y && isWithin(box, target))
			place(box, MARGIN + (box.x - target.x) * (width / target.width),
			      box.width * (width / target.width), false);
		else if (box.y < target.y && isWithin(target, box))
			place(box, MARGIN, width, true);
		else
			box.group.style.display = "none";
	}
}

function fit() {
	const width = Math.max(document.documentElement.clientWidth, NARROWEST);

	scale = (width - 2 * MARGIN) / boxWidth(sides[0]);
	for (const side of sides) {
		const svg = side.querySelector("svg");

		svg.setAttribute("width", width);
		svg.setAttribute("viewBox", `0 0 ${width} ${svg.getAttribute("height")}`);
		zoomTo(side, zoomed.get(side));
	}
	reset.disabled = !zoomed.get(shownSide());
}

function callerOf(side, target) {
	return boxesOf.get(side).findLast((box) => box.y < target.y && isWithin(target, box) &&
		target.y - box.y < 1.5 * (boxesOf.get(side)[1].y - boxesOf.get(side)[0].y));
}

/* Matches inside of other matches are not counted again. */
function showMatches() {
	const wanted = search.value.toLowerCase();

	for (const side of sides) {
		const counted = [];
		let width = 0;

		for (const box of boxesOf.get(side)) {
			const isMatch = wanted !== "" && box.name.toLowerCase().includes(wanted);

			box.group.classList.toggle("match", isMatch);
			if (isMatch && !counted.some((outer) => outer.y < box.y && isWithin(box, outer))) {
				counted.push(box);
				width += box.width;
			}
		}
		if (side === shownSide())
			found.textContent = wanted === "" ? ""
				: `${(100 * width / boxesOf.get(side)[0].width).toFixed(1)} % of the time ${side.id}`;
	}
}

function turnOver() {
	for (const side of sides)
		side.hidden = !side.hidden;
	turn.textContent = `Widths: show the time ${sides[0].hidden ? "after" : "before"}`;
	reset.disabled = !zoomed.get(shownSide());
	showMatches();
}

for (const side of sides)
	for (const box of boxesOf.get(side)) {
		box.group.setAttribute("tabindex", "0");
		box.group.setAttribute("role", "button");
		box.group.setAttribute("aria-label", box.group.querySelector("title").textContent);
		box.group.onclick = () => zoomTo(side, box);
		box.group.onmouseenter = box.group.onfocus = () => {
			details.textContent = box.group.querySelector("title").textContent
				.split("\n").join(" · ");
		};
		box.group.onkeydown = (event) => {
			if (event.key === "Enter")
				zoomTo(side, box);
		};
	}
turn.onclick = turnOver;
reset.onclick = () => zoomTo(shownSide(), null);
search.oninput = showMatches;
document.onkeydown = (event) => {
	const side = shownSide();

	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.target === search) {
		if (event.key === "Escape")
			search.blur();
		return;
	}
	if (event.key === "0" || event.key === "Escape") {
		zoomTo(side, null);
	} else if (event.key === "Backspace" && zoomed.get(side)) {
		zoomTo(side, callerOf(side, zoomed.get(side)) ?? null);
	} else if (event.key === "t") {
		turnOver();
	} else if (event.key === "/") {
		search.focus();
	} else {
		return;
	}
	event.preventDefault();
};
window.onresize = fit;
fit();
