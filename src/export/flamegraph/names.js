/* names - shortens function names, and formats numbers. */
const LONG_NAME = 40; /* characters */
/* Operators that look like brackets but are none. */
const NO_BRACKETS = /(?:operator\s*(?:<=>|<<=|<<|<=|<|>>=|>>|>=|>|->\*|->|\(\))|->|\(anonymous namespace\))/y;

/*
 * A long C++ or Rust name with an ellipsis for the contents of its brackets:
 * "std::map<…>::operator[](…)". A name with unbalanced brackets stays as it is.
 */
function shorten(name) {
	const open = [];
	let short = "";
	if (name.length <= LONG_NAME)
		return name;
	for (let i = 0; i < name.length; ) {
		NO_BRACKETS.lastIndex = i;
		const part = NO_BRACKETS.exec(name)?.[0] ?? name[i];
		i += part.length;
		if (part === ">" || part === ")") {
			const begin = open.pop();
			if (begin === undefined || name[begin] !== (part === ">" ? "<" : "("))
				return name;
			if (open.length === 0)
				short += begin + 2 === i ? part : `…${part}`;
		} else {
			if (open.length === 0)
				short += part;
			if (part === "<" || part === "(")
				open.push(i - 1);
		}
	}
	return open.length === 0 ? short : name;
}

/*
 * Labels from the whole name to the shortest that still identifies the function: qualifiers are
 * the least informative.
 */
function labelsOf(short) {
	const labels = [short];
	/* "libz.so.1+0x2f10" has no parts. */
	if (short.includes("+0x") || short.startsWith("["))
		return labels;
	let rest = short.endsWith(")") && short.includes("(") ? short.replace(/\(…?\)$/, "") : short;
	if (rest !== short && rest.length > 0)
		labels.push(rest);
	if (rest.startsWith("import ")) {
		rest = rest.slice("import ".length);
		labels.push(`…${rest}`);
	}
	if (rest.includes(".<locals>.")) {
		labels.push(rest.replace(/\.(?:<locals>\.)/g, "…"));
		rest = rest.slice(rest.lastIndexOf(".<locals>.") + 10);
		labels.push(rest);
	}
	for (;;) {
		const at = /^(?!<)[^<(\s]*?(?:::|\.|#)(?=[^.:#])/.exec(rest);
		if (!at)
			return labels;
		rest = rest.slice(at[0].length);
		labels.push(`…${rest}`);
	}
}

function formatShare(part, whole) {
	if (part === 0 || whole === 0)
		return "0 %";
	const share = (100 * part) / whole;
	return `${share.toFixed(share >= 99.95 ? 0 : share >= 0.095 ? 1 : 2)} %`;
}

function formatTime(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (ns >= size)
			return `${(ns / size).toPrecision(ns / size >= 999.5 ? 4 : 3)} ${unit}`;
	return `${ns} ns`;
}

function formatCount(count, one, many) {
	return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}
