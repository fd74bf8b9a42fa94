import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useSettings } from "@/lib/settings";
import { clock } from "@/lib/time";
import { useZone } from "./zone";

export interface Series {
  at: string;
  value: number;
}

const HEIGHT = 120;

/** One value over time. What it tells is also in `label`, for those who do not see it. */
export function Chart({ points, label, colour }: { points: Series[]; label: string; colour: string }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const zone = useZone();
  const { theme } = useSettings();

  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    const target = box.current;
    if (!target) return;
    const css = getComputedStyle(target);
    // A canvas does not understand light-dark(): the element's own colour is what it comes to.
    const resolve = (name: string) => {
      target.style.color = `var(${name})`;
      return css.color;
    };
    const [ink, line, stroke] = [resolve("--ink-2"), resolve("--line"), resolve(colour)];
    target.style.color = "";
    const font = `11px ${css.fontFamily}`;
    const axis = { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    const made = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT,
        padding: [8, 22, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: (_, min, max) => [min ?? 0, (max ?? 0) + 60] },
          y: { range: (_, __, max) => [0, Math.max(5, max * 1.1)] },
        },
        axes: [
          {
            ...axis,
            size: 26,
            gap: 8,
            space: 60,
            values: (_, ticks) => ticks.map((tick) => clock(tick * 1_000, zone)),
            incrs: [300, 600, 900, 1800],
          },
          {
            ...axis,
            size: 44,
            gap: 4,
            space: 28,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000],
          },
        ],
        series: [
          {},
          {
            stroke,
            width: 0,
            fill: stroke.replace("rgb(", "rgba(").replace(")", ", 0.85)"),
            points: { show: false },
            paths: uPlot.paths.bars?.({ size: [0.75, 12], align: 1 }),
          },
        ],
      },
      [[], []],
      target,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: target.clientWidth, height: HEIGHT }));
    resize.observe(target);
    return () => {
      resize.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [zone, theme, colour]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart made anew has no data yet
  useEffect(() => {
    plot.current?.setData([points.map(({ at }) => Date.parse(at) / 1_000), points.map(({ value }) => value)]);
  }, [points, zone, theme, colour]);

  return <div ref={box} role="img" aria-label={label} className="w-full overflow-hidden" style={{ height: HEIGHT }} />;
}
