/*
 * other_words - what users of other profilers type, and what it is called here.
 */
#pragma once

/* A command that there is none of: "fathom record -p PID" for "attach"; NULL: nothing is known of it. */
const char *other_word_of_command(const char *name);
/* An option that no command has, with its dashes: "--rate HZ" for "-F"; NULL. */
const char *other_word_of_option(const char *option);
