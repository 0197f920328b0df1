module fathom/pprof_reader

go 1.19

require github.com/google/pprof v0.0.0-20230207041349-798e818bf904
