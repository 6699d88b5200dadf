(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @parent))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(interface_type (method_elem name: (field_identifier) @name) @method)
(field_declaration (field_identifier) @name) @field
(const_spec (identifier) @name) @constant
(var_spec (identifier) @name) @variable
