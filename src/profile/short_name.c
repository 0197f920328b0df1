#include "profile/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* What to leave out, each level including those before it. */
enum effort { WHOLE, NO_PARAMETERS, NO_TYPE, NO_TEMPLATES, NO_SCOPES, ONE_SCOPE, EFFORT_COUNT };

#define OPERATOR "operator"

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '$' || (byte & 0x80);
}

/*
 * The longest first. Needed because "operator+<char>" is operator +, and its bracket begins
 * arguments.
 */
static const char *const operators[] = {
	"()", "[]", "<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&",
	"||", "++", "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "->", "<",
	">",  "+",  "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  ",",
};

/* The length of "operator<<" and the like at `at`, else 0: their brackets do not nest. */
static size_t operator_length(const char *name, const char *at)
{
	const size_t len = strlen(OPERATOR);

	if (strncmp(at, OPERATOR, len) != 0 || (at > name && is_word(at[-1])))
		return 0;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		const size_t sign = strlen(operators[i]);

		if (strncmp(at + len, operators[i], sign) == 0)
			return len + sign;
	}
	return is_word(at[len]) ? 0 : len;
}

static char closing(char open)
{
	return open == '(' ? ')' : open == '<' ? '>' : open == '[' ? ']' : '}';
}

/*
 * The end of the bracket opened at `open`, just after its closing one; NULL: it is not closed.
 */
static const char *behind(const char *name, const char *open)
{
	char wanted[64];
	size_t depth = 0;

	for (const char *at = open; *at; at++) {
		const size_t skipped = operator_length(name, at);

		if (skipped > 0) {
			at += skipped - 1;
		} else if (strchr("(<[{", *at)) {
			if (depth == sizeof wanted)
				return NULL;
			wanted[depth++] = closing(*at);
		} else if (at[0] == '>' && at[-1] == '-') {
			continue; /* an arrow */
		} else if (depth > 0 && *at == wanted[depth - 1]) {
			if (--depth == 0)
				return at + 1;
		}
	}
	return NULL;
}

/*
 * Whether a bracket begins arguments of a template or a function. sign: where the last
 * operator's sign ended, or NULL; demanglers put a space between "operator<" and its arguments.
 */
static bool has_arguments(const char *name, const char *open, const char *sign)
{
	if (open == name)
		return false;
	if (sign && (open == sign || (open == sign + 1 && *sign == ' ')))
		return true;
	const char before = open[-1];

	if (*open == '<')
		return is_word(before) || before == ':';
	return is_word(before) || before == '>' || before == ')' || before == '=' ||
	       before == '<' || before == ']';
}

/* Adds the name without the arguments that the effort leaves out. */
static void add_without(struct text *out, const char *name, enum effort effort)
{
	const char *sign = NULL;

	for (const char *at = name; *at;) {
		const size_t taken = operator_length(name, at);
		const bool is_open = *at == '(' || *at == '<';
		const char *end = is_open ? behind(name, at) : NULL;
		const enum effort needed = *at == '(' ? NO_PARAMETERS : NO_TEMPLATES;

		if (taken > 0) {
			text_add_bytes(out, at, taken);
			at += taken;
			sign = at;
		} else if (end && effort >= needed && end - at > 2 &&
			   has_arguments(name, at, sign)) {
			text_addf(out, "%c…%c", *at, closing(*at));
			at = end;
		} else {
			text_add_bytes(out, at++, 1);
		}
	}
}

/*
 * The length of a template function's return type, including the space after it; 0: there is
 * none. It ends at the last space before the parameters that is outside of brackets.
 */
static size_t type_length(const char *name)
{
	const char *sign = NULL;
	size_t length = 0;

	for (const char *at = name; *at;) {
		const size_t taken = operator_length(name, at);
		const char *end = strchr("(<[{", *at) ? behind(name, at) : NULL;

		if (taken > 0) {
			at += taken;
			sign = at;
		} else if (*at == '(' && end && has_arguments(name, at, sign)) {
			return length;
		} else if (end) {
			at = end;
		} else if (*at++ == ' ' && at - 1 != sign) {
			length = (size_t)(at - name);
		}
	}
	return 0;
}

/*
 * The offset of the last parts of a::b::c, ignoring brackets; 0: there are no more parts than
 * that.
 */
static size_t last_scopes(const char *name, int parts)
{
	size_t begins[2] = { 0, 0 };

	for (const char *at = name; *at && *at != ' ';) {
		const char *end = strchr("(<[{", *at) ? behind(name, at) : NULL;

		if (end) {
			at = end;
		} else if (strncmp(at, "::", 2) == 0) {
			at += 2;
			begins[0] = begins[1];
			begins[1] = (size_t)(at - name);
		} else {
			at++;
		}
	}
	return begins[2 - parts];
}

/*
 * Shortens Rust's "<alloc::vec::Vec<…> as core::iter::Extend<…>>::extend" to "<Vec<…> as
 * Extend<…>>".
 */
static const char *add_implementing(struct text *out, const char *name)
{
	const char *end = *name == '<' ? behind(name, name) : NULL;
	const char *word = name;

	for (const char *at = name; end && at < end; at++) {
		if (strncmp(at, "::", 2) == 0 && is_word(at[-1])) {
			word = at + 2;
			at++;
		} else if (!is_word(*at)) {
			text_add_bytes(out, word, (size_t)(at + 1 - word));
			word = at + 1;
		}
	}
	return end ? end : name;
}

static void add_scoped(struct text *out, const char *name, enum effort effort)
{
	const size_t scopes = last_scopes(name, effort >= ONE_SCOPE ? 1 : 2);

	if (scopes > 0)
		text_add(out, "…::");
	else if (*name == '<')
		name = add_implementing(out, name);
	text_add(out, name + scopes);
}

static void add_with(struct text *out, const char *name, enum effort effort)
{
	struct text whole = { 0 };

	add_without(&whole, name, effort);
	const char *rest = text_string(&whole);

	/* "operator bool()" has no return type before it, but a space in its name. */
	if (effort >= NO_TYPE && !strstr(rest, OPERATOR " "))
		rest += type_length(rest);
	if (effort >= NO_SCOPES)
		add_scoped(out, rest, effort);
	else
		text_add(out, rest);
	text_done(&whole);
}

/*
 * Whether it is a system call with its object, like "futex(condition in Monitor::wait)",
 * "read(/var/lib/x.db)", "recvfrom(127.0.0.1:5432)": the object is the informative part.
 */
static bool is_wait(const char *name)
{
	const char *open = strchr(name, '(');

	if (!open || name[strlen(name) - 1] != ')')
		return false;
	if (strncmp(name, "futex(", strlen("futex(")) == 0)
		return true;
	for (const char *at = name; at < open; at++) {
		if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) && *at != '_')
			return false;
	}
	for (const char *at = open + 1; *at; at++) {
		if (*at == '/' || (at[0] == ':' && isdigit((unsigned char)at[1])) ||
		    strncmp(at, " at ", 4) == 0)
			return true;
	}
	return false;
}

/*
 * Leaves out prefixes of Python, Ruby and Go names: "f.<locals>.g" is "…g", but a lambda keeps
 * its function, "f.…<lambda>"; "block in A::B#c" is "block in …::B#c"; "a.org/b/c.F" is
 * "…/c.F". Names without these are kept.
 */
#define LOCALS ".<locals>."

static const char *last_locals(const char *name, const char *before)
{
	const char *found = NULL;

	for (const char *at = strstr(name, LOCALS); at && at < before;
	     at = strstr(at + 1, LOCALS))
		found = at;
	return found;
}

static bool add_local(struct text *out, const char *name)
{
	const char *last = last_locals(name, name + strlen(name));
	const size_t len = strlen(LOCALS);

	if (!last)
		return false;
	if (last[len] == '<') {
		const char *outer = last_locals(name, last);
		const char *from = outer ? outer + len : name;

		text_add(out, outer ? "…" : "");
		text_add_bytes(out, from, (size_t)(last - from));
		text_add(out, ".");
	}
	text_add(out, "…");
	text_add(out, last + len);
	return true;
}

static bool add_go(struct text *out, const char *name)
{
	const size_t path = strcspn(name, "(<[ ");
	const char *slash = memrchr(name, '/', path);

	if (!slash || !memchr(slash, '.', path - (size_t)(slash - name)))
		return false;
	text_addf(out, "…%s", slash);
	return true;
}

/* "_json.cpython-311-x86_64-linux-gnu.so+0x4e20" becomes "_json.…so+0x4e20". */
static bool add_extension(struct text *out, const char *name)
{
	const char *tag = strstr(name, ".cpython-");
	const char *end = tag ? strstr(tag, ".so") : NULL;

	if (!end)
		return false;
	text_add_bytes(out, name, (size_t)(tag - name));
	text_addf(out, ".…%s", end + 1);
	return true;
}

/* The name after "block in ", or the name itself. */
static const char *behind_block(const char *name)
{
	const char *in =
		strncmp(name, "block ", strlen("block ")) == 0 ? strstr(name, " in ") : NULL;

	return in ? in + strlen(" in ") : name;
}

void short_name_add_plain(struct text *out, const char *name)
{
	if (strpbrk(name, "(<:"))
		add_with(out, name, NO_TEMPLATES);
	else
		text_add(out, name);
}

void short_name_add(struct text *out, const char *name, size_t columns)
{
	const char *rest = behind_block(name);
	struct text shorter = { 0 };
	enum effort effort = WHOLE;

	if (text_columns(name) > columns &&
	    (add_local(out, name) || add_extension(out, name) || add_go(out, name)))
		return;
	/*
	 * Names of other kinds lack these brackets, and may have spaces that do not end a type.
	 */
	if (text_columns(name) <= columns || !strpbrk(rest, "(<:") || is_wait(name)) {
		text_add(out, name);
		return;
	}
	do {
		text_clear(&shorter);
		text_add_bytes(&shorter, name, (size_t)(rest - name));
		add_with(&shorter, rest, ++effort);
	} while (effort + 1 < EFFORT_COUNT && text_columns(text_string(&shorter)) > columns);
	text_add(out, text_string(&shorter));
	text_done(&shorter);
}
