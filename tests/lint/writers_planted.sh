#!/usr/bin/env bash
# lint.writers finds what it is there for: a fault of each kind, planted in each
# room, is named with its line, and what is right beside it is not.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

root=$PWD
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT

# Lines with `fault` have to be named, no others.
read -r -d '' faults <<'C' || true
void a(FILE *out, const char *name, const char *fmt, int n)
{
    fprintf(out, "%s\n", name);                          /* fault */
    fprintf(out, "%-20.*s|", 4, name);                   /* fault */
    printf("%d %c", n, *name);                           /* fault */
    fprintf(out, name);                                  /* fault */
    fprintf(out, name, "x", n);                          /* fault */
    vfprintf(out, fmt, ap);                              /* fault */
    msim_print(out, name);                               /* fault */
    msim_message(fmt, n);                                /* fault */
    snprintf(text, sizeof(text), fmt, n);                /* fault */
    fputs(name, out);                                    /* fault */
    fputs(n ? name : "", out);                           /* fault */
    puts(x->name);                                       /* fault */
    putc(*name, out);                                    /* fault */
    fwrite(name, 1, strlen(name), out);                  /* fault */
    gzprintf(file, "%d", n);                             /* fault */
    fprintf(out, "%5.1f of %d %%\n", x, n);
    fputs(n ? ", " : "", out);
    fputs("it's fine\n", out);
    fputc('\n', out);
    putc(n ? ',' : '\n', out);
    msim_print(out, "%s\n", name);
    msim_print(out, n ? "%s, " : "%s", name);
    snprintf(text, sizeof(text), "%s of %d", name, n);
    /* fprintf(out, "%s", name); */
    // puts(name);
}

void b(FILE *out, const char *name, int n)
{
    snprintf(text, n, "<td>%s</td>", name);              /* fault */
    msim_html_print(out, "<a href=\"%s\">", name);       /* fault */
    msim_html_print(out, "<b class=%s>", name);          /* fault */
    msim_html_print(out, "<b class=\"%s\">%s</b>", name, name);
    fputs("<table>", out);
}

void c(FILE *out, const char *name)
{
    fputs("<td>", out);
    msim_print(out, "%s", name);                         /* fault */
    fputs("</td>", out);
}

void d(FILE *out, const char *name, int n)
{
    snprintf(text, n, "set title '%s'", name);           /* fault */
    snprintf(text, n, "\nplot $x title \"%s\"", name);   /* fault */
    snprintf(text, n, "system 'ls %s'", name);           /* fault */
    msim_gnuplot_print(out, "set title %s\nplot $x\n", name);
    msim_print(out, "| %s | %d |\n", name, 1);           /* fault */
    msim_markdown_print(out, "| %s | %d |\n", name, 1);
    snprintf(text, n, "want it set, got '%s'", name);
}

void e(FILE *out, const char *name)
{
    fputs("$rows << MSIM_END\n", out);
    msim_csv_write(out, "%s", name);                     /* fault */
    fputs("MSIM_END\n", out);
}

void f(const char *name, int n)
{
    snprintf(line, n, "exec '%s' --all", name);          /* fault */
    snprintf(line, n, "%s >/dev/null 2>&1", name);       /* fault */
    snprintf(line, n, "sh -c \"%s\"", name);             /* fault */
    system(line);                                        /* fault */
    popen(line, "r");                                    /* fault */
    execvp(name, argv);                                  /* fault */
    posix_spawnp(&pid, name, NULL, NULL, argv, environ); /* fault */
    msim_shell_print(line, n, "exec %s --all", name);
}

void g(struct msim_text *t, const char *name, int n)
{
    snprintf(line, n, "import %s\n", name);              /* fault */
    snprintf(line, n, "x = torch.ops.%s()", name);       /* fault */
    snprintf(line, n, "getattr(x, '%s')", name);         /* fault */
    msim_text_put(t, msim_trace_text(trace, n));         /* fault */
    msim_text_add(t, "getattr(x, %s)", name);
}

void h(FILE *out, const char *name, int n)
{
    snprintf(line, n, "%s,%d\n", name, n);               /* fault */
    snprintf(line, n, "%d,%s\n", n, name);               /* fault */
    snprintf(line, n, "{\"name\": \"%s\"}", name);       /* fault */
    fputs("\033[31m", out);                              /* fault */
    msim_csv_print(out, "%s,%d\n", name, n);
    snprintf(line, n, "%s, %d", name, n);
}
C

rooms=$(project_files '*.c' '*.cu' |
    grep -E '^(core|models|predict|plan|replay|profilers|calibrate|cli)/' |
    xargs -n1 dirname | sort -u)
for room in $rooms; do
    mkdir -p "$planted/$room"
    printf '%s\n' "$faults" >"$planted/$room/planted.c"
done
mkdir -p "$planted/scripts" "$planted/profilers/torch" "$planted/replay/emit"
cat >"$planted/scripts/planted.py" <<'PY'
os.system("ls " + name)  # fault
subprocess.run(line, shell=True)  # fault
subprocess.run([program, name], check=True)
eval(name)  # fault
pickle.load(file)  # fault
torch.load(path)  # fault
model.eval()
re.compile(name)
PY
cp "$planted/scripts/planted.py" "$planted/profilers/torch"
cp "$planted/scripts/planted.py" "$planted/replay/emit/planted.py.in"
cat >"$planted/scripts/planted.sh" <<'SH'
eval "$line" # fault
sh -c "ls $name" # fault
sh -c 'ls "$1"' ls "$name"
SH

SOURCE_DIR=$planted bash "$root/tests/lint/writers.sh" >/dev/null \
    2>"$planted/said" && complain "no complaint about planted faults"
sed 's/^\([^:]*:[0-9]*\):.*/\1/' "$planted/said" | sort -u >"$planted/named"
(cd "$planted" && grep -rn 'fault' --include='planted.*' . |
    sed 's|^\./||; s/^\([^:]*:[0-9]*\):.*/\1/' | grep -v '^said' | sort -u) \
    >"$planted/planted"
while IFS= read -r line; do
    complain "not found: $line"
done < <(comm -13 "$planted/named" "$planted/planted" | head -40)
while IFS= read -r line; do
    complain "named, though it is right: $line: $(grep "^$line:" "$planted/said")"
done < <(comm -23 "$planted/named" "$planted/planted" | head -40)
echo "$(wc -l <"$planted/planted") faults in $(wc -w <<<"$rooms") rooms"

finish writers_planted
