# What Ruby's own library does with a lot of calls.  Its parts are required before, so that runs are alike.
def options
  parser = OptionParser.new do |it|
    it.banner = "Usage: x"
    it.on("-v", "--[no-]verbose", "verbose") { |v| v }
    it.on("-n", "--number N", Integer, "number") { |n| n }
    it.on("--list A,B", Array) { |list| list }
  end
  20.times { parser.parse(%w[-v -n 3 --list a,b rest]) }
  parser.help
  parser.parse(%w[--none]) rescue nil
end

def templates
  template = ERB.new("<% 10.times do |i| %>row <%= i %>\n<% end %>")
  20.times { template.result(binding) }
end

def tables
  text = CSV.generate { |csv| 100.times { |i| csv << [i, "text, #{i}", nil, "q\"#{i}"] } }
  CSV.parse(text, headers: %w[a b c d]).map { |row| row["b"] }
end

def sets
  a = Set.new(1..200)
  b = Set.new((100..300).step(3))
  [(a & b).size, (a | b).size, (a - b).size, a.subset?(b), a.group_by(&:odd?).size]
end

def scanning
  scanner = StringScanner.new("let x = 12 + foo(3, 4) * 2\n" * 50)
  tokens = []
  until scanner.eos?
    tokens << (scanner.scan(/\s+/) || scanner.scan(/\w+/) || scanner.getch)
  end
  tokens
end

def documents
  text = JSON.generate((1..200).map { |i| { "id" => i, "tags" => %w[a b], "f" => i / 3.0 } })
  JSON.parse(JSON.pretty_generate(JSON.parse(text)))
end

def times
  50.times { |i| Time.iso8601("2020-01-02T03:04:05Z").strftime("%Y") + i.to_s }
end

[:options, :templates, :tables, :sets, :scanning, :documents, :times].each { |name| send(name) }
