"""The exact laws of other libraries' local clients, followed choice by choice."""
