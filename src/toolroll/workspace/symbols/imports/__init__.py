"""Who imports what: statements out of parsed files, and the files they lead to.

`statements.imports_of` reads one parsed file, `resolver.Resolver` finds the files a statement means, and
`importers.importers_of` answers who imports a module, a file, a package or a name.
"""
