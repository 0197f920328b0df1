# What names.rb loads.

burn(:loaded)
