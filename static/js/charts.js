// Draws the charts of a page: loads plotly when the first comes near the viewport, gives every figure the page's fonts
// and colours, draws it again when the theme changes, and opens the address behind a point that is clicked.
const source = document.querySelector("script[data-plotly]").dataset.plotly;
let loading;

const plotly = () =>
  (loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(window.Plotly);
    script.onerror = reject;
    document.head.append(script);
  }));

// Tokens are light-dark() pairs: only a real element tells which colour they are at present.
function painter() {
  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);
  const known = new Map();
  const colour = (name) => {
    if (!known.has(name)) {
      probe.style.color = name;
      known.set(name, getComputedStyle(probe).color);
    }
    return known.get(name);
  };
  const painted = (value) => {
    if (typeof value === "string") return value.startsWith("var(--") ? colour(value) : value;
    if (Array.isArray(value)) return value.slice(0, 2).every(Number.isFinite) ? value : value.map(painted);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, painted(inner)]));
    }
    return value;
  };
  return { painted, done: () => probe.remove() };
}

const AXIS = {
  automargin: true,
  fixedrange: true,
  gridcolor: "var(--line)",
  linecolor: "var(--line-strong)",
  zerolinecolor: "var(--line-strong)",
  tickfont: { size: 12, color: "var(--ink-2)" },
  title: { font: { size: 12, color: "var(--ink-2)" }, standoff: 8 },
};

function dressed(layout) {
  const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));
  const result = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    colorway: [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `var(--series-${number})`),
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: "var(--ink)" },
    margin: { l: 48, r: 12, t: 12, b: 40 },
    hovermode: "closest",
    hoverlabel: { bgcolor: "var(--sheet)", bordercolor: "var(--line-strong)", font: { color: "var(--ink)", size: 12 } },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { color: "var(--ink-2)" } },
    dragmode: false,
    ...layout,
  };
  for (const axis of new Set(["xaxis", "yaxis", ...axes])) {
    const own = layout[axis] ?? {};
    const title = typeof own.title === "string" ? { text: own.title } : own.title;
    result[axis] = { ...AXIS, ...own, title: { ...AXIS.title, ...title } };
  }
  return result;
}

const DISPLAY = { displayModeBar: false, responsive: true, doubleClick: false };

async function draw(chart) {
  const library = await plotly();
  const plot = chart.querySelector(".chart-plot");
  const { data, layout } = JSON.parse(chart.querySelector("script[type='application/json']").textContent);
  const paint = painter();
  const first = !plot.classList.contains("js-plotly-plot");
  await library.react(plot, paint.painted(data), paint.painted(dressed(layout)), DISPLAY);
  paint.done();
  chart.dataset.drawn = "";
  if (!first) return;
  plot.classList.toggle("has-addresses", data.some((trace) => trace.customdata));
  plot.on("plotly_click", ({ points }) => {
    const address = [points[0]?.customdata].flat()[0];
    if (typeof address === "string" && /^[/?]/.test(address)) location.assign(address);
  });
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target);
    }
  },
  { rootMargin: "300px" },
);

const watch = () => document.querySelectorAll("[data-chart]:not([data-watched])").forEach((chart) => {
  chart.dataset.watched = "";
  const plot = chart.querySelector(".chart-plot");
  plot.style.minHeight = `${plot.dataset.height}px`;
  near.observe(chart);
});

const again = () => document.querySelectorAll("[data-chart][data-drawn]").forEach(draw);
new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
document.addEventListener("htmx:after:swap", watch);
watch();
