/*
 * colors - the colour of each function: that of its package.
 *
 * Own code is orange, each package has a hue, the system's code is pale, and the standard
 * library and the interpreter are grey.
 *
 * Colours are chosen in OKLCH, where equal lightness looks equally light in every hue, so that
 * one text colour is readable on all of them. Source: https://bottosson.github.io/posts/oklab/
 */
const OWN_HUE = 58;
const PACKAGE_HUES = [250, 150, 320, 200, 110, 285, 175, 350, 225, 130];
const CHROMA_OF_ORIGIN = { package: 0.1, system: 0.045, kernel: 0.03, standard: 0, interpreter: 0, fathom: 0 };
const packageHue = new Map();

/* The package, or the legend's name for a group of other code. */
function familyOf(f) {
	return f.isOwn ? "your code" : f.language === FATHOM ? "not sampled" : f.package || "no package";
}

/* Families by self time: [{ name, like, ns }], own code first, then the heaviest. */
function rankFamilies() {
	const { self } = sumFunctions(0);
	const families = new Map();
	functions.forEach((f, id) => {
		const name = familyOf(f);
		if (!families.has(name))
			families.set(name, { name, like: f, ns: 0 });
		families.get(name).ns += self[id];
	});
	const ranked = [...families.values()]
		.sort((x, y) => Number(y.like.isOwn) - Number(x.like.isOwn) || y.ns - x.ns);
	ranked.filter(({ like }) => !like.isOwn && CHROMA_OF_ORIGIN[like.origin] > 0.01)
		.forEach(({ like }, rank) => packageHue.set(like.package, PACKAGE_HUES[rank % PACKAGE_HUES.length]));
	return ranked;
}

/* From -1 to 1, determined by the name, so that functions of one module differ a little. */
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
	const hue = f.isOwn ? OWN_HUE + 14 * shade : packageHue.get(f.package) ?? 0;
	const strength = f.isOwn && f.language !== FATHOM ? 0.115 : CHROMA_OF_ORIGIN[f.origin] ?? 0.05;
	const chroma = strength * (view.isDark ? 0.85 : 1);
	const isGrey = strength < 0.01;
	if (isDimmed)
		return rgbOfOklch((view.isDark ? 0.31 : 0.945) + shade * 0.008, chroma * 0.25, hue);
	if (f.language === FATHOM)
		return rgbOfOklch(view.isDark ? 0.33 : 0.8, 0, 0);
	return rgbOfOklch((view.isDark ? (isGrey ? 0.38 : 0.45) : isGrey ? 0.905 : 0.845) + shade * (view.isDark ? 0.025 : 0.02), chroma, hue);
}

const colors = { normal: [], dimmed: [], key: null };

function prepareColors() {
	if (colors.key === view.isDark)
		return;
	colors.key = view.isDark;
	const color = (f, id, isDimmed) => waitOf(id) ? colorOfState(waitOf(id), isDimmed) : colorOf(f, shadeOf(f.name), isDimmed);
	colors.normal = functions.map((f, id) => color(f, id, false));
	colors.dimmed = functions.map((f, id) => color(f, id, true));
}

function palette() {
	return view.isDark
		? { text: "#f3f3f1", quiet: "#9b9da0", root: "#4a4d52", page: "#17181a",
		    match: "#e58ae5", matchText: "#1a0a1a", edge: "#ffffff" }
		: { text: "#1c1b1a", quiet: "#77756f", root: "#dddcd8", page: "#ffffff",
		    match: "#9c2a9c", matchText: "#ffffff", edge: "#000000" };
}

