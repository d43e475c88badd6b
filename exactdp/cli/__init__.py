"""The command line: one thin subcommand per public function."""
