#!/usr/bin/env bash
command -v python3 >/dev/null || { apt-get update && apt-get install -y python3; }
