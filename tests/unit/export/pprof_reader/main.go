// pprof_reader reads a profile with pprof's own library and prints what it found as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/pprof/profile"
)

type mapping struct {
	File    string `json:"file"`
	BuildID string `json:"build_id"`
}

type sample struct {
	Stack  []string            `json:"stack"` // outermost first, inlined calls unfolded
	Values []int64             `json:"values"`
	Labels map[string][]string `json:"labels"`
	Nums   map[string][]int64  `json:"nums"`
}

type report struct {
	Types    []string  `json:"types"`
	Default  string    `json:"default"`
	Period   int64     `json:"period"`
	Duration int64     `json:"duration"`
	Comments []string  `json:"comments"`
	Mappings []mapping `json:"mappings"`
	Samples  []sample  `json:"samples"`
}

func stackOf(s *profile.Sample) []string {
	stack := []string{}
	for i := len(s.Location) - 1; i >= 0; i-- {
		lines := s.Location[i].Line
		for l := len(lines) - 1; l >= 0; l-- {
			stack = append(stack, lines[l].Function.Name)
		}
	}
	return stack
}

func read() (*profile.Profile, error) {
	p, err := profile.Parse(os.Stdin)
	if err != nil {
		return nil, err
	}
	return p, p.CheckValid()
}

func main() {
	p, err := read()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pprof_reader:", err)
		os.Exit(1)
	}
	out := report{Default: p.DefaultSampleType, Period: p.Period, Duration: p.DurationNanos,
		Comments: p.Comments}
	for _, t := range p.SampleType {
		out.Types = append(out.Types, t.Type+"/"+t.Unit)
	}
	for _, m := range p.Mapping {
		out.Mappings = append(out.Mappings, mapping{m.File, m.BuildID})
	}
	for _, s := range p.Sample {
		out.Samples = append(out.Samples, sample{stackOf(s), s.Value, s.Label, s.NumLabel})
	}
	json.NewEncoder(os.Stdout).Encode(out)
}
