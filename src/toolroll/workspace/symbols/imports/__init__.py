"""Who imports what: statements out of parsed files, and the files they lead to.

`resolver.Resolver` finds the files a statement means, and `importers.find_importers` answers who imports a module, a
file, a package or a name. What differs from language to language is in `symbols.languages`.
"""
