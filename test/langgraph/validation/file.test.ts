import { fileUnderTest } from "../../support/places.ts";
import { validateOn } from "./suite.ts";

validateOn(fileUnderTest);
