"""Approvals: what a person is asked, the rules that make asking unnecessary, and the permit that lets a call run."""
