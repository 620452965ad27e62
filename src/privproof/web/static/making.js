// Makes elements, and takes over only harmless parts of a report: no styles, no scripts, no links.

export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute.startsWith("on")) element.addEventListener(attribute.slice(2), value);
    else if (value === true) element.setAttribute(attribute, "");
    else if (value !== false && value != null) element.setAttribute(attribute, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

const ELEMENTS = new Set(
  ("h2 h3 p div pre code span table thead tbody tr th td em strong svg g path line rect circle ellipse polyline polygon text tspan " +
    "title desc defs marker clipPath").split(" "),
);
const ATTRIBUTES = new Set(
  ("class role d x y x1 y1 x2 y2 cx cy r rx ry dx dy points width height viewBox transform fill fill-opacity stroke stroke-width " +
    "stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity opacity font-size font-family font-weight font-style text-anchor " +
    "dominant-baseline paint-order id marker-end markerWidth markerHeight refX refY orient colspan rowspan").split(" "),
);

function taken(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE || !ELEMENTS.has(node.localName)) return null;
  const copy = document.createElementNS(node.namespaceURI, node.localName);
  for (const { name, value } of node.attributes) {
    if (ATTRIBUTES.has(name) && !/url\((?!#)/i.test(value)) copy.setAttribute(name, value);
  }
  for (const child of node.childNodes) {
    const inner = taken(child);
    if (inner) copy.append(inner);
  }
  return copy;
}

const WIDE = 800; // pixels from which on a drawing is not made to fit, but scrolled

export function harmless(html) {
  const parts = [];
  const styleless = html.replace(/<style>[^<]*<\/style>| style="[^"]*"/g, ""); // would be refused anyway, and reported
  for (const node of new DOMParser().parseFromString(styleless, "text/html").body.childNodes) {
    const copy = taken(node);
    if (copy) parts.push(copy);
  }
  for (const part of parts.filter((each) => each.querySelectorAll)) {
    for (const drawing of part.querySelectorAll("svg")) drawing.classList.toggle("large", drawing.getAttribute("width") > WIDE);
  }
  return parts;
}

export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export function droppable(zone, input, take) {
  const one = async (file) => {
    if (file) take(file.name, await file.text());
  };
  input.addEventListener("change", () => one(input.files[0]).then(() => (input.value = "")));
  for (const kind of ["dragenter", "dragover"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    one(event.dataTransfer.files[0]);
  });
}
