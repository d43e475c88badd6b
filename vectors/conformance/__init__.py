"""The conformance page: the answers of every installed library, judged and confirmed."""
