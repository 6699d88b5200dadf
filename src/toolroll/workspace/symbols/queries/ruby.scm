(module name: (_) @name) @module
(class name: (_) @name) @class
(method name: (_) @name) @function
(singleton_method name: (_) @name) @method
(alias name: (_) @name) @function
(assignment left: [(constant) (global_variable)] @name) @constant
((call method: (identifier) @_call arguments: (argument_list (simple_symbol) @name)) @field
  (#any-of? @_call "attr_reader" "attr_writer" "attr_accessor"))
