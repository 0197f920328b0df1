/*
 * Writes the title of hot paths: of your own code, or of the programs. If the program is an
 * interpreter whose language's frames are missing, the title says so, as readers would look for
 * their functions in vain.
 */
#include "report/hot_internal.h"

#include <string.h>

#include "base/text.h"
#include "profile/group.h"
#include "profile/packages.h"

/* Per cent of the time that one program must have. */
enum { MOSTLY = 50 };

static const struct {
	const char *program, *language; /* the program's name without its version */
} interpreters[] = {
	{ "perl", "Perl" },       { "node", "JavaScript" },
	{ "deno", "JavaScript" }, { "bun", "JavaScript" },
	{ "php", "PHP" },         { "php-fpm", "PHP" },
	{ "lua", "Lua" },         { "luajit", "Lua" },
	{ "texlua", "Lua" },      { "R", "R" },
	{ "Rscript", "R" },       { "java", "Java" },
	{ "mono", ".NET" },       { "dotnet", ".NET" },
	{ "beam.smp", "Erlang" }, { "guile", "Scheme" },
	{ "racket", "Racket" },   { "tclsh", "Tcl" },
	{ "julia", "Julia" },     { "octave-cli", "Octave" },
	{ "pypy", "Python" },     { "sh", "shell" },
	{ "dash", "shell" },      { "bash", "shell" },
	{ "zsh", "shell" },       { "awk", "awk" },
	{ "gawk", "awk" },        { "mawk", "awk" },
};

/* "php8.2", "lua5.4" and "guile-3.0" are php, lua and guile. */
static const char *language_of(const char *program)
{
	for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
		const size_t len = strlen(interpreters[i].program);

		if (strncmp(program, interpreters[i].program, len) == 0 &&
		    program[len + strspn(program + len, "-.0123456789")] == '\0')
			return interpreters[i].language;
	}
	return NULL;
}

/* Adds "hot paths of perl itself, not of Perl code". */
static void add_of_programs(struct text *out, const struct selection *selection)
{
	struct groups groups;
	const char *language = NULL;

	groups_make(selection->profile, GROUP_BY_PROGRAM, selection->filter, &groups);
	if (groups.count > 0 && hot_has_percent(groups.rows[0].cost.self_ns, groups.ns, MOSTLY))
		language = language_of(groups.rows[0].name);
	if (language) {
		text_add(out, "hot paths of ");
		text_add_printable(out, groups.rows[0].name, strlen(groups.rows[0].name));
		text_addf(out, " itself, not of %s code", language);
	} else {
		text_add(out, "hot paths of the programs");
	}
	groups_done(&groups);
}

void hot_title_add(struct text *out, const struct hot *hot)
{
	switch (packages_own_rule(hot->packages)) {
	case OWN_BY_PATH:
		text_add(out, "hot paths of your code");
		break;
	case OWN_ASKED:
		text_add(out, "hot paths of the code of --own");
		break;
	case OWN_INTERPRETED:
		text_add(out, "hot paths of scripts and packages");
		break;
	case OWN_STANDARD:
		text_add(out, "hot paths of the standard library");
		break;
	case OWN_PROGRAMS:
		add_of_programs(out, hot->selection);
		break;
	default:
		text_add(out, "hot paths");
	}
}
