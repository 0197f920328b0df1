# What names.rb requires.

burn(:required)

module Bodies
  burn(:module_body)

  class Body
    burn(:class_body)

    class << self
      burn(:singleton_class)
    end
  end
end
