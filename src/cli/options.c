#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/nearest.h"
#include "cli/other_words.h"

#define SIZE_LEAST (UINT64_C(1) << 20)

int option_set_flag(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	(void)option;
	(void)value;
	(void)err;
	*(bool *)place = true;
	return 0;
}

int option_set_string(const struct option *option, void *place, const char *value,
		      struct error *err)
{
	if (*value == '\0')
		return error_set(err, -EINVAL,
				 "option '--%s' needs a value (%s), not an empty one",
				 option->name, option->argument);
	*(const char **)place = value;
	return 0;
}

int option_read_number(const struct option *option, const char *value, unsigned long min,
		       unsigned long max, unsigned long *out_number, struct error *err)
{
	char *end = NULL;

	errno = 0;
	unsigned long number = strtoul(value, &end, 10);

	/* strtoul() accepts signs and spaces, which are invalid here. */
	if (*value < '0' || *value > '9' || *end || errno || number < min || number > max) {
		if (max >= UINT32_MAX)
			return error_set(
				err, -EINVAL,
				"option '--%s' takes a number of at least %lu, not '%s'",
				option->name, min, value);
		return error_set(err, -EINVAL,
				 "option '--%s' takes a number from %lu to %lu, not '%s'",
				 option->name, min, max, value);
	}
	*out_number = number;
	return 0;
}

/* The number of bits for a unit letter, or -1. */
static int size_shift(const char *unit)
{
	static const char units[] = "KMGT";
	const char *at = *unit ? strchr(units, toupper((unsigned char)*unit)) : NULL;

	if (!*unit)
		return 0;
	return at && !unit[1] ? 10 * (int)(at - units + 1) : -1;
}

int option_set_size(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	char *unit = NULL;

	errno = 0;
	const unsigned long number = strtoul(value, &unit, 10);
	const int shift = size_shift(unit);
	uint64_t size;

	if (*value < '0' || *value > '9' || errno || shift < 0 ||
	    __builtin_mul_overflow(number, UINT64_C(1) << shift, &size) || size < SIZE_LEAST)
		return error_set(err, -EINVAL,
				 "option '--%s' takes a size of at least 1M, like 500M or 2G "
				 "(K, M, G, T), not '%s'",
				 option->name, value);
	*(uint64_t *)place = size;
	return 0;
}

int option_refuse_word(const struct option *option, const char *const *words, const char *value,
		       struct error *err)
{
	struct text list = { 0 };

	for (size_t i = 0; words[i]; i++) {
		if (i)
			text_add(&list, words[i + 1] ? ", " : " or ");
		text_add(&list, words[i]);
	}
	const char *here = other_word_of_value(option->name, value);

	error_set(err, -EINVAL, "option '--%s' takes %s, not '%s'%s%s%s", option->name,
		  text_string(&list), value, here ? ": use '" : "", here ? here : "",
		  here ? "'" : "");
	text_done(&list);
	return -EINVAL;
}

int option_find_word(const struct option *option, const char *const *words, const char *value,
		     struct error *err)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], value) == 0)
			return i;
	}
	return option_refuse_word(option, words, value, err);
}

struct parser {
	const char *command;
	const struct option *options;
	char **next; /* next argument */
	void *settings;
	struct options_result result;
	struct error *err;
};

static int set(struct parser *parser, const struct option *option, const char *value)
{
	return option->set(option, (char *)parser->settings + option->offset, value,
			   parser->err);
}

/* typed: including dashes. True, with an error set, if it is an option of other profilers. */
static bool is_other_word(struct parser *parser, const char *typed)
{
	const char *answer = other_word_of_option(parser->command, typed);

	if (answer)
		error_set(parser->err, -EINVAL, "unknown option '%s': %s", typed, answer);
	return answer;
}

static int refuse_letter(struct parser *parser, char letter)
{
	const char typed[] = { '-', letter, '\0' };

	/* First the whole word, as in "-list". */
	if (is_other_word(parser, parser->next[-1]) || is_other_word(parser, typed))
		return -EINVAL;
	return error_set(parser->err, -EINVAL,
			 "unknown option '%s': --help lists those there are", typed);
}

static int refuse_long(struct parser *parser, const char *name)
{
	struct nearest nearest = { 0 };
	CLEANUP(freep) char *typed = xasprintf("--%s", name);

	if (is_other_word(parser, typed))
		return -EINVAL;
	for (const struct option *option = parser->options; option->name; option++)
		nearest_consider(&nearest, name, option->name);
	nearest_consider(&nearest, name, "help");
	if (nearest.word)
		return error_set(parser->err, -EINVAL,
				 "unknown option '%s': did you mean '--%s'?", typed,
				 nearest.word);
	return error_set(parser->err, -EINVAL,
			 "unknown option '%s': --help lists those there are", typed);
}

/* Sets an option whose value is the next argument. */
static int set_from_next(struct parser *parser, const struct option *option)
{
	if (!*parser->next)
		return error_set(parser->err, -EINVAL, "option '--%s' needs a value (%s)",
				 option->name, option->argument);
	return set(parser, option, *parser->next++);
}

/* word: the text after the two dashes. */
static int parse_long(struct parser *parser, const char *word)
{
	const char *equals = strchrnul(word, '=');
	CLEANUP(freep) char *name = xstrndup(word, (size_t)(equals - word));

	if (strcmp(name, "help") == 0) {
		parser->result.wants_help = true;
		return 0;
	}
	for (const struct option *option = parser->options; option->name; option++) {
		if (strcmp(option->name, name) != 0)
			continue;
		if (!option->argument && *equals)
			return error_set(parser->err, -EINVAL, "option '--%s' takes no value",
					 name);
		if (!option->argument)
			return set(parser, option, NULL);
		return *equals ? set(parser, option, equals + 1)
			       : set_from_next(parser, option);
	}
	return refuse_long(parser, name);
}

static const struct option *find_letter(const struct parser *parser, char letter)
{
	for (const struct option *option = parser->options; option->name; option++)
		if (option->letter == letter)
			return option;
	return NULL;
}

/* letters: the text after the one dash. */
static int parse_letters(struct parser *parser, const char *letters)
{
	int rc = 0;

	for (; *letters && rc == 0; letters++) {
		const struct option *option = find_letter(parser, *letters);

		if (*letters == 'h' && !option) {
			parser->result.wants_help = true;
			return 0;
		}
		if (!option)
			return refuse_letter(parser, *letters);
		if (!option->argument)
			rc = set(parser, option, NULL);
		else
			return letters[1] ? set(parser, option, letters + 1)
					  : set_from_next(parser, option);
	}
	return rc;
}

static bool is_option(const char *argument)
{
	return argument[0] == '-' && argument[1] != '\0';
}

static int parse(struct parser *parser, bool stops_at_operand)
{
	size_t count = 0;
	int rc = 0;

	while (*parser->next && rc == 0 && !parser->result.wants_help) {
		char *argument = *parser->next++;

		if (strcmp(argument, "--") == 0)
			break;
		if (is_option(argument)) {
			rc = argument[1] == '-' ? parse_long(parser, argument + 2)
						: parse_letters(parser, argument + 1);
		} else {
			parser->result.operands[count++] = argument;
			if (stops_at_operand)
				break;
		}
	}
	while (*parser->next && rc == 0)
		parser->result.operands[count++] = *parser->next++;
	parser->result.operands[count] = NULL;
	return rc;
}

int options_parse(const char *command, const struct option *options, char **arguments,
		  bool stops_at_operand, void *settings, struct options_result *out_result,
		  struct error *err)
{
	struct parser parser = { .command = command,
				 .options = options,
				 .next = arguments,
				 .settings = settings,
				 .err = err };
	size_t count = 0;

	while (arguments[count])
		count++;
	parser.result.operands = xreallocarray(NULL, count + 1, sizeof *parser.result.operands);
	int rc = parse(&parser, stops_at_operand);

	if (rc < 0) {
		free(parser.result.operands);
		return rc;
	}
	*out_result = parser.result;
	return 0;
}
