/*
 * other_words - what users of other profilers type, and what to type here.
 */
#pragma once

/* A command that there is none of: "use 'fathom record -p PID'" for "attach"; NULL: nothing is known of it. */
const char *other_word_of_command(const char *name);
/*
 * An option that fathom's command of that name has not, with its dashes: "use '--rate HZ'" for
 * "record" and "-F"; NULL.
 */
const char *other_word_of_option(const char *command, const char *option);
/* A value of an option, "--by module" for "sort" and "comm,dso"'s first; NULL. */
const char *other_word_of_value(const char *option, const char *value);
