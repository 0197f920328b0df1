/*
 * options - command-line options from a table.
 *
 * Takes --name, --name=value, --name value, -n, -n value, -nvalue and flags in one word
 * (-qw).  Options may stand behind operands, unless the command says that they may not;
 * "--" ends them.  Prints nothing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;

struct option {
	const char *name;     /* without the dashes; NULL ends a table */
	char letter;          /* 0: none */
	const char *argument; /* what the usage calls its value; NULL: a flag */
	const char *help;
	/* Puts the value (NULL for a flag) where it belongs: at offset in the settings. */
	int (*set)(const struct option *option, void *place, const char *value,
		   struct error *err);
	size_t offset;
};

/* For struct option.set: places are a bool, and a const char * that is borrowed. */
int option_set_flag(const struct option *option, void *place, const char *value,
		    struct error *err);
int option_set_string(const struct option *option, void *place, const char *value,
		      struct error *err);
/* Whole numbers from min to max, which the sentence names. */
int option_read_number(const struct option *option, const char *value, unsigned long min,
		       unsigned long max, unsigned long *out_number, struct error *err);
/* For struct option.set: a size in bytes of a mebibyte or more, as in 500M, a uint64_t. */
int option_set_size(const struct option *option, void *place, const char *value,
		    struct error *err);
/* Which of these words it is, from 0; words ends with NULL.  -EINVAL and the sentence: none. */
int option_find_word(const struct option *option, const char *const *words, const char *value,
		     struct error *err);
/* "option '--sort' takes self or total, not 'x'"; words ends with NULL.  -EINVAL. */
int option_refuse_word(const struct option *option, const char *const *words, const char *value,
		       struct error *err);

struct options_result {
	char **operands; /* NULL-terminated; the strings are those of the arguments */
	bool wants_help; /* --help or -h: nothing behind it was looked at */
};

/*
 * command: its name, for sentences on options that it has not.  -EINVAL and a sentence.  On
 * success the operands are the caller's to free.
 */
int options_parse(const char *command, const struct option *options, char **arguments,
		  bool stops_at_operand, void *settings, struct options_result *out_result,
		  struct error *err);
