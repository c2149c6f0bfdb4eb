/** The texts that the demo's model pretends to read: the script of an agent without a provider. */
export const chapters: Readonly<Record<string, { readonly text: string; readonly source: string }>> = {
  moon: {
    text: "The moon pulls the near side of the earth harder than the far side, and so the sea bulges on both.",
    source: "https://example.org/tides/moon",
  },
  sun: {
    text: "The sun does the same at less than half the strength; when both pull along one line, tides are high.",
    source: "https://example.org/tides/sun",
  },
  coast: {
    text: "The shape of a coast decides the rest: a funnel of a bay can lift the tide to sixteen metres.",
    source: "https://example.org/tides/coast",
  },
  river: {
    text: "In a river mouth the tide may run upstream as a single wave, called a bore.",
    source: "https://example.org/tides/river",
  },
  earth: {
    text: "The ground under our feet rises with the moon as well, by about a hand's width.",
    source: "https://example.org/tides/earth",
  },
};
