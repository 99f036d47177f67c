"""docs/configuration.md is what the binary prints, and relative links of the pages lead somewhere."""

import os
import pathlib
import re
import subprocess
import sys


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    problems = []
    made = subprocess.run([os.environ["LOONGFORGE_BINARY"], "inspect", "config", "--markdown"], capture_output=True,
                          text=True, check=True).stdout
    if made != (root / "docs/configuration.md").read_text():
        problems.append("docs/configuration.md is old: loongforge inspect config --markdown > docs/configuration.md")
    for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if not link.startswith("http") and not (page.parent / link).exists():
                problems.append(f"{page.relative_to(root)}: link to {link} leads nowhere")
    print("\n".join(problems) or "pages are up to date")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
