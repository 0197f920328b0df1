/* A library with NAMES of an interpreter's instructions: NAME(nop) NAME(getlocal)… */
#define NAME(name) #name "\0"

extern const char instruction_names[];
const char instruction_names[] = "\0" NAMES;
