"""Every fit's mean error as a dot: used by accuracy_charts.py.

The left panel has held-out rows, from op.csv. The right panel has GPUs left out
of the fit, from left_out.csv: predicted from GPUs of their generation, and from
others alone.
"""
from chart_page import BLUE, GREEN, INK, ORANGE, SOFT, Page, quoted

WIDTH, TOP, ROW = 1100, 122, 46
LOWEST, HIGHEST = 0.4, 250  # % of the axis


def dots(values, at, spread):
    """In the order of their cells, below and above the line."""
    n = max(1, len(values))
    return [(min(HIGHEST, max(LOWEST, v)),
             at - spread + 2 * spread * (0.5 + i) / n)
            for i, v in enumerate(values)]


def mean(values):
    return sum(values) / len(values)


def put_series(page, name, rows, color, spread):
    """Points of one colour, and a mark at each family's mean."""
    page.data(name, [d for at, values in rows for d in dots(values, at, spread)])
    page.data(name + "_mean", [(mean(values), at - spread - 0.03)
                               for at, values in rows])
    faint = color.replace("#", "#70")  # of which 0x70 of 0xff is transparent
    return (f"${name} using 1:2 with points pt 7 ps 0.45 lc rgb '{faint}', "
            f"${name}_mean using 1:2:(0):({2 * spread + 0.06}) with vectors "
            f"nohead lw 2.2 lc rgb '{INK}'")


def put_panel(page, left, right, count, title, subtitle):
    page.panel(left, TOP, right, TOP + ROW * count)
    page.text(left, 80, title, 13)
    page.text(left, 98, subtitle, 11, SOFT)
    page.put(f"set xrange [{LOWEST}:{HIGHEST}]",
             f"set yrange [{count + 0.5}:0.5]")


def figure(page, values, at, color=SOFT):
    page.small(f"{mean(values):.1f} %", f"graph 1.02, first {at:.3g} left",
               color)


def draw(held, left_out, path, png):
    """`held`: family, errors in % by fit, in the order of the rows;
    `left_out`: family, errors where the generation is known, and where not."""
    count = max(len(held), len(left_out))
    page = Page(png, WIDTH, TOP + ROW * count + 56)
    page.text(20, 24, "How far predictions are off, fit by fit", 17)
    page.text(20, 48, "every dot is the mean error of one fit: a GPU, stack "
              "and kind of work; black marks and figures are means over fits",
              12, SOFT)
    page.put("set logscale x", "set border 1", "unset ytics",
             "set xtics (0.5, 1, 2, 5, 10, 20, 50, 100, 200)",
             "set xlabel 'mean error, in %' offset 0,0.3")
    put_panel(page, 250, 570, len(held), "GPUs with rows",
              "held-out rows, by whole groups")
    for at, (name, errors) in enumerate(held, 1):
        page.put(f"set label {quoted(name)} at graph -0.03, first {at} right")
        figure(page, errors, at)
    page.plot(put_series(page, "held", [(at, e) for at, (_, e)
                                        in enumerate(held, 1)], BLUE, 0.28))
    put_panel(page, 740, 1030, len(left_out), "GPUs left out of the fit",
              "from data sheet and")
    page.text(862, 98, "their generation", 11, GREEN)
    page.text(966, 98, "other generations", 11, ORANGE)
    near, far = [], []
    for at, (name, own, other) in enumerate(left_out, 1):
        page.put(f"set label {quoted(name)} at graph -0.03, first {at} right")
        for errors, off, series, color in ((own, -0.2, near, GREEN),
                                           (other, 0.2, far, ORANGE)):
            if errors:
                series.append((at + off, errors))
                figure(page, errors, at + off, color)
    page.plot(put_series(page, "near", near, GREEN, 0.17) + ", " +
              put_series(page, "far", far, ORANGE, 0.17))
    page.draw(path)
