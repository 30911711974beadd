"""The command line: `app` has the commands, `options` what they share, `output` what they print."""
