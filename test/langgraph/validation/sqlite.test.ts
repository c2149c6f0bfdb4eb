import { sqliteUnderTest } from "../../support/places.ts";
import { validateOn } from "./suite.ts";

validateOn(sqliteUnderTest);
