"use strict";
(() => {
  const AXES = { epoch: "epochs", samples: "samples", seconds: "seconds", bytes: "bytes sent" };
  const SHOWN_AT_FIRST = 12; // lines; more would be a thicket
  const byId = (id) => document.getElementById(id);
  let data = null, axis = null, zoomed = false, curves = null, phases = null;
  const hidden = new Set(); // labels
  let chosen = false; // has anybody switched a line?

  const color = (i) => `hsl(${Math.round((i * 137.508 + 210) % 360)} 65% ${i % 2 ? 45 : 55}%)`;
  const faded = (i) => `hsl(${Math.round((i * 137.508 + 210) % 360)} 65% 50% / 0.15)`;
  // Charts are drawn before paper's own style holds.
  const ON_PAPER = { "--ink": "#000", "--faint": "#444", "--rule": "#bbb" };
  let onPaper = false;
  const css = (name) => onPaper ? ON_PAPER[name]
    : getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const fillTable = (table, rows, mark) => {
    table.replaceChildren();
    if (rows.length === 0) return;
    const head = element("thead"), body = element("tbody"), first = element("tr");
    for (const cell of rows[0]) first.append(element("th", cell, { scope: "col" }));
    head.append(first);
    rows.slice(1).forEach((row, i) => {
      const line = element("tr");
      for (const cell of row) line.append(element("td", cell));
      if (mark) mark(line, i);
      body.append(line);
    });
    table.append(head, body);
  };

  const short = (value) => {
    const units = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
    for (const [size, unit] of units) {
      if (Math.abs(value) >= size) return `${+(value / size).toPrecision(3)} ${unit}`;
    }
    return `${+value.toPrecision(3)}`;
  };

  const datasets = () => {
    const sets = [];
    data.lines.forEach((line, i) => {
      const curve = line.curve, off = hidden.has(line.label);
      const points = (sign) => curve.mean.map((mean, j) =>
        ({ x: curve[axis][j], y: mean + sign * curve.std[j] }));
      const common = { parsing: false, normalized: true, pointHitRadius: 6, hidden: off };
      const few = curve.mean.length < 30;
      sets.push({ ...common, label: line.label, data: points(0), borderColor: color(i),
        backgroundColor: color(i), borderWidth: 2, pointRadius: few ? 2 : 0 });
      if (!curve.std.some((std) => std > 0)) return;
      const edge = { ...common, borderWidth: 0, pointRadius: 0, pointHitRadius: 0, band: true };
      sets.push({ ...edge, data: points(1), fill: "+1", backgroundColor: faded(i) });
      sets.push({ ...edge, data: points(-1), fill: false });
    });
    return sets;
  };

  const scale = (text, more = {}) => ({
    title: { display: true, text, color: css("--faint") },
    ticks: { color: css("--faint"), ...(more.ticks || {}) },
    grid: { color: css("--rule") }, ...more.rest,
  });

  // Where curves end they are close together: the least of their second halves.
  const bottomOfEnds = () => Math.min(...data.lines.filter((line) => !hidden.has(line.label))
    .flatMap((line) => line.curve.mean.slice(line.curve.mean.length >> 1)
      .map((mean, j) => mean - line.curve.std[(line.curve.mean.length >> 1) + j])));

  const drawCurves = () => {
    const bottom = zoomed ? bottomOfEnds() : Infinity;
    const options = {
      animation: false, responsive: true, maintainAspectRatio: false,
      interaction: { mode: "nearest", intersect: false },
      plugins: {
        legend: { display: false },
        tooltip: {
          filter: (item) => !item.dataset.band,
          callbacks: {
            label: (item) => `${item.dataset.label}: ${item.parsed.y.toFixed(2)} %`,
            title: (items) => items.length ? `${short(items[0].parsed.x)} ${AXES[axis]}` : "",
          },
        },
      },
      scales: {
        x: scale(AXES[axis], { ticks: { callback: short }, rest: { type: "linear" } }),
        y: scale("validation accuracy, %",
          { rest: Number.isFinite(bottom) ? { min: Math.floor(bottom) } : {} }),
      },
    };
    if (curves) curves.destroy();
    curves = new Chart(byId("curves"), { type: "line", data: { datasets: datasets() }, options });
  };

  const drawPhases = () => {
    const lines = data.lines.filter((line) => Object.keys(line.step_ms).length > 0);
    byId("time").hidden = lines.length === 0;
    if (phases) phases.destroy();
    phases = null;
    if (lines.length === 0) return;
    byId("phases-box").style.height = `${Math.min(200, 5 + 1.7 * lines.length)}rem`;
    const names = Object.keys(lines[0].step_ms).filter((name) =>
      lines.some((line) => line.step_ms[name] > 0));
    phases = new Chart(byId("phases"), {
      type: "bar",
      data: {
        labels: lines.map((line) => line.label),
        datasets: names.map((name, i) => ({ label: name, backgroundColor: color(i),
          data: lines.map((line) => line.step_ms[name] || 0) })),
      },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: "y",
        plugins: { legend: { labels: { color: css("--ink") } } },
        scales: {
          x: scale("ms of a step, mean over workers", { rest: { stacked: true } }),
          y: { stacked: true, ticks: { color: css("--ink") }, grid: { display: false } },
        },
      },
    });
  };

  const drawLegend = () => {
    const legend = byId("legend");
    legend.replaceChildren();
    data.lines.forEach((line, i) => {
      const label = element("label"), box = element("input", undefined, { type: "checkbox" });
      box.checked = !hidden.has(line.label);
      box.addEventListener("change", () => {
        chosen = true;
        if (box.checked) hidden.delete(line.label); else hidden.add(line.label);
        drawCurves();
      });
      const swatch = element("i");
      swatch.style.background = color(i);
      label.append(box, swatch, line.label);
      legend.append(label);
    });
  };

  const drawAxes = () => {
    const box = byId("axes");
    box.replaceChildren();
    for (const [name, title] of Object.entries(AXES)) {
      const button = element("button", title, { type: "button", "aria-pressed": name === axis });
      button.addEventListener("click", () => { axis = name; drawAxes(); drawCurves(); });
      box.append(button);
    }
    const zoom = element("button", "zoom to the ends", { type: "button", "aria-pressed": zoomed });
    zoom.addEventListener("click", () => { zoomed = !zoomed; drawAxes(); drawCurves(); });
    box.append(zoom);
  };

  const drawTables = () => {
    fillTable(byId("results"), data.table, (row, i) => {
      if (i === data.baseline) row.className = "baseline";
    });
    byId("test").textContent = `${data.deviation}. p and effect (Hedges' g) ` +
      `are against "${data.lines[data.baseline].label}": ${data.test}. ` +
      `* p < 0.05, ** p < 0.01, *** p < 0.001.`;
    const keys = [...new Set(data.lines.flatMap((line) => Object.keys(line.differences)))].sort();
    fillTable(byId("differences"), keys.length === 0 ? [] : [["line", ...keys],
      ...data.lines.map((line) => [line.label, ...keys.map((key) => line.differences[key] ?? "")])]);
    const common = Object.entries(data.common).map(([key, value]) => `${key} = ${value}`);
    byId("common").textContent = common.length ? `In all lines: ${common.join(", ")}.` : "";
    fillTable(byId("commands"), [["line", "command"],
      ...data.lines.map((line) => [line.label, line.command])], (row) => {
      row.lastChild.className = "code";
    });
    byId("remarks-box").hidden = data.remarks.length === 0;
    byId("remarks").replaceChildren(...data.remarks.map((remark) => element("li", remark)));
  };

  const draw = (news) => {
    data = news;
    byId("title").textContent = data.title || "Runs compared";
    document.title = data.title || "Lockstep report";
    byId("text").textContent = data.text;
    axis ??= data.epochs_alike ? "epoch" : "samples";
    if (!chosen) {
      hidden.clear();
      data.lines.slice(SHOWN_AT_FIRST).forEach((line) => hidden.add(line.label));
    }
    drawAxes();
    drawLegend();
    drawTables();
    drawCurves();
    drawPhases();
  };

  draw(JSON.parse(byId("data").textContent));
  const redraw = () => { drawCurves(); drawPhases(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => { onPaper = true; redraw(); });
  addEventListener("afterprint", () => { onPaper = false; redraw(); });

  // Served by `lockstep serve`: what changes comes by itself.
  if (document.body.dataset.live !== undefined) {
    const state = byId("state");
    state.hidden = false;
    const source = new EventSource("events");
    source.onopen = () => { state.textContent = "Live: changes appear by themselves."; };
    source.onmessage = (event) => draw(JSON.parse(event.data));
    source.onerror = () => { state.textContent = "The server does not answer; trying again …"; };
  }
})();
